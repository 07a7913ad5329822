import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../harness/browser.js';
import type { Person } from '../harness/person.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { expectNoFaults, log, nextRun, openPage, personAt, say, shows, STAGE, startScene } from './scene.js';

const wordsOf = (number: number): string =>
  number % 7 === 0
    ? `Answer ${number}\n\n\`\`\`ts\nconst number = ${number};\n\`\`\`\n\n- one\n- two`
    : `Message ${number} with **some** words that make a line or two, as they do in a chat.`;

/** A chat of so many messages, which nobody has to be waited for to say. */
async function longChat(person: Person, messages: number, args = {}): Promise<string> {
  const chatId = await person.createChat(args);
  for (let from = 1; from <= messages; from += 100) {
    const batch = Array.from({ length: Math.min(100, messages - from + 1) }, (_, at) => ({
      role: (from + at) % 2 === 0 ? 'assistant' : 'user',
      type: 'text',
      props: { content: wordsOf(from + at) },
    }));
    await person.do('message:save', { chatId, messages: batch });
  }
  return chatId;
}

const rows = (page: Page): Promise<number> => page.locator('[data-message]').count();

/** How far below the top of the window the row of a message stands. */
const topOf = (page: Page, messageId: string): Promise<number> =>
  page.evaluate(
    (id) => document.querySelector(`[data-message="${id}"]`)?.getBoundingClientRect().top ?? NaN,
    messageId,
  );

const heightOf = (page: Page): Promise<number> => log(page).evaluate((scroller) => scroller.scrollHeight);

const frame = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** The same, once the wheel's last turn has come to its end. */
async function standing(page: Page, messageId: string): Promise<number> {
  for (let before = NaN; ;) {
    const top = await topOf(page, messageId);
    if (top === before) return top;
    before = top;
    await frame(page);
    await frame(page);
  }
}

describeInBrowser('a long chat', () => {
  it(
    'of 10,000 messages opens at its end, and is scrolled to its beginning with few rows at a time',
    { timeout: 180_000 },
    async () => {
      const { server } = await startScene();
      const reader = await personAt(server.url);
      const chatId = await longChat(reader, 10_000);
      const tab = await openPage(`${server.url}/chats/${chatId}`);
      const { page } = tab;
      await shows(page, 'Message 10000');
      await log(page).hover();
      await page.evaluate(() => {
        const times: number[] = [];
        let before = performance.now();
        const next = (now: number): void => {
          times.push(now - before);
          before = now;
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
        Object.assign(window, { times });
      });
      let most = 0;
      const beginning = log(page).getByText('Message 1 with');
      while (!(await beginning.isVisible())) {
        for (let turn = 0; turn < 5; turn++) await page.mouse.wheel(0, -4_000);
        most = Math.max(most, await rows(page));
      }
      await shows(page, 'Message 1 with');
      const times = await page.evaluate(() => (window as unknown as { times: number[] }).times.sort((a, b) => a - b));
      const median = times[Math.floor(times.length / 2)]!;
      console.log(
        `10,000 messages: at most ${most} rows; a frame took ${median.toFixed(0)} ms in the median of ${times.length}`,
      );
      expect(most, 'rows at a time').toBeLessThan(150);
      expect(median, 'milliseconds per frame').toBeLessThan(100);
      expectNoFaults(tab);
    },
  );

  it('stays where its reader is when older messages are laid before it', async () => {
    const { server } = await startScene();
    const proxy = await Proxy.to(server.url, asBytes);
    const reader = await personAt(server.url);
    const chatId = await longChat(reader, 400);
    const { page } = await openPage(`${proxy.url}/chats/${chatId}`);
    await shows(page, 'Message 400');
    proxy.fate = (bytes) => (bytes.includes('"hasMore"') ? 'hold' : 'pass');
    await log(page).hover();
    while (proxy.held === 0) {
      await page.mouse.wheel(0, -400);
      await frame(page);
    }
    const messageId = await page.evaluate(() => {
      const all = [...document.querySelectorAll('[data-message]')];
      return all.find((row) => row.getBoundingClientRect().top > 200)?.getAttribute('data-message') ?? '';
    });
    const before = await standing(page, messageId);
    const height = await heightOf(page);

    proxy.release();
    await page.waitForFunction((held) => (document.querySelector('[role="log"]')?.scrollHeight ?? 0) > held, height);
    await frame(page);
    expect(Math.abs((await topOf(page, messageId)) - before), 'pixels that it jumped').toBeLessThan(2);
  });

  it('sticks to the end of an answer, yields to its reader, and sticks again at the end', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await longChat(reader, 60, { assistantId: STAGE });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await say(page, 'go on');
    const run = await nextRun(scene);
    const messageId = await run.send('begin ');
    const fromEnd = (): Promise<number> =>
      log(page).evaluate((scroller) => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop);
    for (let line = 1; line <= 30; line++) await run.append(messageId, `\n\nline ${line}`);
    await shows(page, 'line 30');
    await frame(page);
    expect(await fromEnd(), 'it is at the end').toBeLessThan(5);

    await log(page).hover();
    await page.mouse.wheel(0, -500);
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    await frame(page);
    const top = await standing(page, messageId);
    for (let line = 31; line <= 60; line++) await run.append(messageId, `\n\nline ${line}`);
    await log(page).getByText('line 60').waitFor({ state: 'attached' });
    await frame(page);
    expect(Math.abs((await topOf(page, messageId)) - top), 'pixels that it moved under its reader').toBeLessThan(2);

    await page.getByRole('button', { name: 'Newest' }).click();
    await run.append(messageId, '\n\nthe last line');
    await run.close();
    await shows(page, 'the last line');
    await frame(page);
    expect(await fromEnd(), 'it is at the end again').toBeLessThan(5);
  });

  it('keeps open what was opened while it is out of sight', async () => {
    const { server } = await startScene();
    const reader = await personAt(server.url);
    const chatId = await longChat(reader, 200);
    const thought = { role: 'assistant', type: 'thinking', props: { content: 'a thought' } };
    await reader.do('message:save', { chatId, messages: [thought] });
    const { page } = await openPage(`${server.url}/chats/${chatId}`);
    const fold = log(page).getByRole('button', { name: 'Thought' });
    await fold.click();
    await shows(page, 'a thought');
    await log(page).evaluate((scroller) => (scroller.scrollTop = 0));
    await fold.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Newest' }).click();
    await fold.waitFor();
    expect(await fold.getAttribute('aria-expanded')).toBe('true');
  });

  it('is touched by a word that is added in nothing but the message that it is added to', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await longChat(reader, 5, { assistantId: STAGE });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await say(page, 'one word more');
    const run = await nextRun(scene);
    const messageId = await run.send('words ');
    await shows(page, 'words');
    await page.evaluate((id) => {
      const touched: string[] = [];
      Object.assign(window, { touched });
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const element = target instanceof Element ? target : target.parentElement;
          const row = element?.closest('[data-message]')?.getAttribute('data-message');
          if (row !== id && element?.closest('[data-message]')) touched.push(row ?? '');
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    }, messageId);
    for (let word = 1; word <= 20; word++) await run.append(messageId, `word ${word} `);
    await shows(page, 'word 20');
    expect(await page.evaluate(() => (window as unknown as { touched: string[] }).touched)).toEqual([]);
    await run.close();
  });
});
