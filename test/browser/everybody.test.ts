import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { serious } from './axe.js';
import {
  expectNoFaults,
  field,
  log,
  nextRun,
  openPage,
  personAt,
  say,
  shows,
  STAGE,
  startScene,
  untilPage,
} from './scene.js';

const EVERYTHING = [
  { role: 'user', type: 'text', props: { content: 'Show me everything.' } },
  { role: 'assistant', type: 'thinking', props: { content: 'First this, then that.' } },
  {
    role: 'assistant',
    type: 'tool_call',
    props: { tool: 'weather', input: { city: 'Oslo' }, output: 7, state: 'completed' },
  },
  { role: 'assistant', type: 'tool_call', props: { tool: 'weather', input: {}, error: 'No answer.', state: 'failed' } },
  {
    role: 'assistant',
    type: 'text',
    props: {
      content:
        '# A heading\n\nWords with [a link](https://example.com), `code`, and\n\n- a list\n- of two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst answer: number = 42; // a comment\n```\n\n> quoted\n\n![far away](https://example.com/p.png)\n\n- [x] done\n- [ ] not done',
    },
  },
  { role: 'assistant', type: 'file', props: { url: 'https://example.com/a.pdf', filename: 'a.pdf', size: 1234 } },
  {
    role: 'assistant',
    type: 'image',
    props: { url: 'https://example.com/a.png', alt: 'A picture', caption: 'Far away' },
  },
  { role: 'assistant', type: 'loading', props: { message: 'Working', done: false } },
  { role: 'assistant', type: 'error', props: { message: 'It broke.', code: 'broken' } },
  { role: 'assistant', type: 'action', props: { buttons: [{ label: 'Yes', value: 'yes' }, 'No'] } },
  { role: 'assistant', type: 'card', props: { any: 'thing' } },
];

describeInBrowser('the page for everybody', () => {
  it.each(['light', 'dark'] as const)('has no serious axe finding in any state, %s', async (colorScheme) => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE, title: 'Everything' });
    await reader.do('message:save', { chatId, messages: EVERYTHING });
    const tab = await openPage(scene.server.url, { colorScheme, viewport: { width: 1280, height: 2_400 } });
    const { page } = tab;
    await page.getByRole('heading', { name: 'What shall we talk about?' }).waitFor();
    expect(await serious(page), 'a new chat').toEqual([]);

    await page.getByRole('link', { name: 'Everything' }).click();
    await shows(page, 'A heading');
    await log(page).evaluate((scroller) => {
      for (const fold of scroller.querySelectorAll<HTMLElement>('[aria-expanded="false"]')) fold.click();
    });
    expect(await serious(page), 'a chat').toEqual([]);

    await say(page, 'first');
    const run = await nextRun(scene);
    await run.send('An answer that is being written');
    await say(page, 'second');
    await page.getByRole('region', { name: 'Up next' }).waitFor();
    expect(await serious(page), 'while an answer is written').toEqual([]);
    await run.close('failed', { error: { code: 'broken', message: 'The assistant broke.' } });
    await shows(page, 'The assistant broke.');
    expect(await serious(page), 'after a failure').toEqual([]);

    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menu').waitFor();
    expect(await serious(page), 'a menu').toEqual([]);
    await page.getByRole('menuitem', { name: 'Share' }).click();
    await page.getByRole('dialog', { name: 'Share chat' }).waitFor();
    expect(await serious(page), 'a dialog').toEqual([]);
    expectNoFaults(tab);
  });

  it('is used by keys alone: Enter sends, Shift and Enter make a line, Escape stops, focus comes back', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE, title: 'By keys' });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    await page.keyboard.type('two');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('lines');
    await page.keyboard.press('Enter');
    const run = await nextRun(scene);
    expect(run.assignment?.input[0]?.props).toEqual({ content: 'two\nlines' });
    await run.send('An answer');
    await shows(page, 'An answer');
    await page.keyboard.press('Escape');
    await run.aborted();
    await shows(page, 'Stopped.');

    await page.keyboard.press('Control+k');
    await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'search');
    await page.keyboard.type('by k');
    const more = page.getByRole('button', { name: 'More about By keys' });
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    await page.keyboard.press('Escape');
    const hasFocus = (label: string) => document.activeElement?.getAttribute('aria-label') === label;
    await untilPage(page, hasFocus, 'More about By keys');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await untilPage(page, hasFocus, 'Title');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await untilPage(page, hasFocus, 'More about By keys');
  });

  it('tells those who listen of an answer once it is whole, and not word by word', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await say(page, 'tell me');
    const run = await nextRun(scene);
    const answers = page.getByRole('status', { name: 'Answers' });
    await answers.getByText('stage is answering.').waitFor({ state: 'attached' });
    await answers.evaluate((region) => {
      const said: string[] = [];
      Object.assign(window, { said });
      const note = (): void => void said.push(region.textContent ?? '');
      new MutationObserver(note).observe(region, { subtree: true, childList: true, characterData: true });
    });
    const messageId = await run.send('one');
    for (const word of [' two', ' three', ' four']) await run.append(messageId, word);
    await run.close();
    await answers.getByText('stage answered: one two three four').waitFor({ state: 'attached' });
    expect(await page.evaluate(() => (window as unknown as { said: string[] }).said)).toEqual([
      'stage answered: one two three four',
    ]);
  });

  it('fits a phone: nothing sticks out, the list slides in and gives way to the chat that is chosen', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ title: 'On the phone' });
    await reader.do('message:save', {
      chatId,
      messages: [
        ...EVERYTHING,
        { role: 'assistant', type: 'text', props: { content: `a${'very'.repeat(100)}longword` } },
      ],
    });
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
    const tab = await openPage(scene.server.url, phone);
    const { page } = tab;
    await page.getByRole('button', { name: 'Chats' }).tap();
    const list = page.getByRole('dialog', { name: 'Chats' });
    await list.getByRole('link', { name: 'On the phone' }).tap();
    await list.waitFor({ state: 'detached' });
    await shows(page, 'longword');
    const width = await page.evaluate(() =>
      Math.max(...[...document.querySelectorAll('body, [role="log"]')].map((one) => one.scrollWidth)),
    );
    expect(width, 'pixels').toBeLessThanOrEqual(390);
    expect(await serious(page)).toEqual([]);

    await field(page).fill('a line');
    await field(page).press('Enter');
    expect(await field(page).inputValue(), 'Enter makes a line where there is no Shift').toBe('a line\n');
    await page.getByRole('button', { name: 'Send', exact: true }).tap();
    await page.getByRole('button', { name: 'Copy answer' }).last().waitFor();
    expectNoFaults(tab);
  });

  it('keeps still for those who asked for less motion', async () => {
    const { server } = await startScene();
    const { page } = await openPage(server.url, { reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Watch it stream' }).click();
    await shows(page, 'Every word');
    const longest = await page.evaluate(() =>
      Math.max(0, ...document.getAnimations().map((one) => Number(one.effect?.getComputedTiming().duration ?? 0))),
    );
    expect(longest, 'milliseconds').toBeLessThan(1);
  });
});
