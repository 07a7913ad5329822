import type { BrowserContext, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, profile } from '../harness/browser.js';
import { PAYLOADS } from './payloads.js';
import { log, nextRun, personAt, say, shows, STAGE, startScene, untilPage } from './scene.js';

/** What happened to a page that should not have. */
interface Watch {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly harm: string[];
}

async function watched(url: string, path: string): Promise<Watch> {
  const context = await profile();
  const harm: string[] = [];
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== url) harm.push(`asked for ${request.url()}`);
  });
  const page = await context.newPage();
  page.on('dialog', (dialog) => {
    harm.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => harm.push(error.message));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`));
  });
  page.on('console', (line) => {
    if (line.text().startsWith('policy:')) harm.push(`the second wall was needed: ${line.text()}`);
  });
  await page.goto(url + path);
  return { page, context, harm };
}

/** What stands in the page that no message may bring into it. */
function intruders(): string[] {
  const found: string[] = [];
  const outside =
    'script, iframe, object, embed, form, style, link, meta, base, video, audio, math, template, noscript';
  for (const element of document.querySelectorAll(`[role="log"] :is(${outside})`)) found.push(element.outerHTML);
  for (const element of document.querySelectorAll('body *')) {
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on')) found.push(`${element.tagName} ${name}`);
      const isAddress = ['href', 'src', 'action', 'formaction', 'xlink:href'].includes(name);
      if (isAddress && /^\s*(javascript|vbscript|data):/i.test(value)) found.push(`${element.tagName} ${value}`);
    }
  }
  if (document.querySelectorAll('#page').length !== 1) found.push('another #page');
  if (document.querySelector('[role="log"] :is([id="location"], [name])')) found.push('an id or a name of a message');
  if ('pwned' in window) found.push('something ran');
  return found;
}

async function expectUnharmed({ page, harm }: Watch): Promise<void> {
  expect(await page.evaluate(intruders)).toEqual([]);
  expect(harm).toEqual([]);
}

/** Goes through a chat of so many messages from its end to its beginning, opens what can be opened, and looks at each screen. */
async function goThrough(watch: Watch, messages: number): Promise<void> {
  const { page } = watch;
  const seen = new Set<string>();
  await log(page).hover();
  for (let screen = 0; screen < 400 && seen.size < messages; screen++) {
    const shown = await log(page).evaluate((scroller) => {
      const { top, bottom } = scroller.getBoundingClientRect();
      for (const fold of scroller.querySelectorAll<HTMLElement>('[aria-expanded="false"]')) {
        const box = fold.getBoundingClientRect();
        // What is not in sight yet would push away what is.
        if (box.bottom > top && box.top < bottom) fold.click();
      }
      return [...scroller.querySelectorAll('[data-message]')].map((row) => row.getAttribute('data-message') ?? '');
    });
    for (const messageId of shown) seen.add(messageId);
    expect(await page.evaluate(intruders)).toEqual([]);
    await page.mouse.wheel(0, -600);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
  expect(seen.size, 'messages that were seen').toBe(messages);
  await expectUnharmed(watch);
}

const text = (content: string) => ({ role: 'assistant', type: 'text', props: { content } });

describeInBrowser('forty ways to inject into the page', () => {
  it('do nothing as the words of an assistant, nor as those of a person', { timeout: 120_000 }, async () => {
    const { server } = await startScene();
    const reader = await personAt(server.url);
    const chatId = await reader.createChat();
    const said = PAYLOADS.map((content) => ({ role: 'user', type: 'text', props: { content } }));
    await reader.do('message:save', { chatId, messages: PAYLOADS.map(text) });
    await reader.do('message:save', { chatId, messages: said });
    await goThrough(await watched(server.url, `/chats/${chatId}`), 2 * PAYLOADS.length);
  });

  it('do nothing while they come in pieces', { timeout: 120_000 }, async () => {
    const scene = await startScene();
    const { url } = scene.server;
    const reader = await personAt(url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const watch = await watched(url, `/chats/${chatId}`);
    const { page } = watch;
    await say(page, 'begin');
    const run = await nextRun(scene);
    for (const [number, payload] of PAYLOADS.entries()) {
      const messageId = await run.send('');
      // Three cuts, each time elsewhere: in a tag, in an attribute, in an address.
      const cuts = [1, 2, 3].map((part) => Math.floor((payload.length * part) / 4) + (number % 3));
      const pieces = [0, ...cuts].map((from, at) => payload.slice(from, cuts[at] ?? payload.length));
      for (const piece of pieces.filter((one) => one !== '')) await run.append(messageId, piece);
      await untilPage(page, (id) => document.querySelector(`[data-message="${id}"]`), messageId);
      expect(await page.evaluate(intruders)).toEqual([]);
    }
    await run.close();
    await goThrough(watch, 1 + PAYLOADS.length);
  });

  it('do nothing in any field of any other message', { timeout: 120_000 }, async () => {
    const { server } = await startScene();
    const reader = await personAt(server.url);
    const chatId = await reader.createChat();
    const all = PAYLOADS.join('\n');
    const as = (type: string, props: object) => ({ role: 'assistant', type, props });
    const lists = [
      [
        as('thinking', { content: all }),
        as('loading', { message: all, done: false }),
        as('error', { message: all, code: all }),
      ],
      [as('tool_call', { tool: all, input: { [all]: all }, output: [all], error: all, state: all })],
      [as('action', { buttons: PAYLOADS.flatMap((label) => [{ label, value: label }, label]) })],
      PAYLOADS.map((payload) => as('image', { url: payload, alt: payload, caption: payload })),
      PAYLOADS.map((payload) => as('file', { url: payload, filename: payload, size: 1 })),
      ['https://evil.example/x', '//evil.example/x', 'javascript:window.pwned=1', 'data:text/html,x'].flatMap((url) => [
        as('image', { url }),
        as('file', { url }),
      ]),
      PAYLOADS.map((payload) => as(payload.replaceAll(/\p{Cc}/gu, '').slice(0, 50), { [payload]: payload })),
      [
        as('constructor', { content: all }),
        as('__proto__', { content: all }),
        as('text', { content: { toString: all } }),
      ],
    ];
    for (const messages of lists) await reader.do('message:save', { chatId, messages });
    await goThrough(await watched(server.url, `/chats/${chatId}`), lists.flat().length);
  });

  it('do nothing as titles of chats, nor as names of people', { timeout: 120_000 }, async () => {
    const { server } = await startScene();
    const reader = await personAt(server.url);
    for (const title of PAYLOADS) await reader.createChat({ title });
    const chatId = await reader.createChat({ title: PAYLOADS.join(' ').slice(0, 500), share: 'team' });
    const guests = await Promise.all(
      PAYLOADS.map((payload) => personAt(server.url, { userId: payload.slice(0, 200), teamId: 'local' })),
    );
    const watch = await watched(server.url, `/chats/${chatId}`);
    const { page } = watch;
    for (const guest of guests) await guest.follow(chatId);
    await page.getByRole('button', { name: /^Also here: / }).waitFor();
    await guests[2]!.do('typing', { chatId, typing: true });
    await page.getByText('is typing…').waitFor();
    await guests[2]!.start(chatId, 'words of a stranger');
    await shows(page, PAYLOADS[2]!);
    const list = page.getByRole('list', { name: 'Chats' });
    await list.hover();
    for (let step = 0; step < 10; step++) {
      await page.mouse.wheel(0, 400);
      expect(await page.evaluate(intruders)).toEqual([]);
    }
    await list.getByRole('link', { name: PAYLOADS[0]! }).first().click();
    await page.getByRole('heading', { name: PAYLOADS[0]! }).waitFor();
    await expectUnharmed(watch);
  });
});
