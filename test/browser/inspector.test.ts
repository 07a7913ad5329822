import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { until } from '../harness/until.js';
import { serious } from './axe.js';
import { chatWithRun, currentLine, inspect, logPane, nestedTurn, turnPane, viewPane } from './inspector-scene.js';
import { expectNoFaults, openPage, openPageAs, personAt, startScene, untilPage } from './scene.js';

/** Waits until the line of the log that is looked at has these words. */
const atLine = (page: Page, words: string | RegExp): Promise<void> =>
  currentLine(page).filter({ hasText: words }).waitFor();

const heading = (page: Page, offset: number): Promise<void> =>
  viewPane(page).getByText(`The view at #${offset}`, { exact: true }).waitFor();

describeInBrowser('the inspector', () => {
  it('shows a log from its beginning, follows it live, and stops where the reader looks back', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId, run } = await chatWithRun(scene, person);
    const followed = await person.follow(chatId);
    const messageId = await run.send('one');
    const tab = await inspect(scene, chatId);
    const { page } = tab;
    await atLine(page, 'message.created');
    await logPane(page).getByText('Here the server’s log begins').waitFor();

    await run.append(messageId, ' two');
    await atLine(page, '" two"');
    await viewPane(page).getByText('one two').waitFor();
    await viewPane(page).locator('mark').getByText(' two').waitFor();

    await page.keyboard.press('ArrowLeft');
    await atLine(page, '"one"');
    await run.append(messageId, ' three');
    await page.getByRole('button', { name: '2 newer' }).waitFor();
    expect(await viewPane(page).getByText('one', { exact: true }).count(), 'what was looked at stays').toBe(1);
    await page.getByRole('button', { name: '2 newer' }).click();
    await viewPane(page).getByText('one two three').waitFor();
    await run.close();
    await atLine(page, 'turn.ended');
    await heading(page, (await until(() => followed.position, 'a position')).offset);

    await page.getByRole('button', { name: 'live' }).waitFor();
    await logPane(page).getByRole('listbox').hover();
    await page.mouse.wheel(0, -100);
    await page.getByRole('button', { name: 'Follow' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'live' }).waitFor();
    expectNoFaults(tab);
  });

  it('DAT-4: has at each offset the view that a follower had there, by keys and by the slider', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId, run } = await chatWithRun(scene, person);
    const followed = await person.follow(chatId);
    const texts = new Map<number, string>();
    const messageId = await run.send('0');
    for (let word = 1; word <= 30; word++) {
      await run.append(messageId, ` ${word}`);
      const { offset } = await until(() => followed.position, 'a position');
      texts.set(offset, followed.text(run.requestId));
    }
    await run.close();
    const { page } = await inspect(scene, chatId);
    await atLine(page, 'turn.ended');
    await page.getByRole('slider', { name: 'Place in the log' }).focus();
    await page.keyboard.press('Home');
    await heading(page, 0);
    for (const [offset, text] of [...texts].slice(0, 10)) {
      for (;;) {
        const shown = await page.getByRole('slider').getAttribute('aria-valuetext');
        if (shown?.startsWith(`offset ${offset},`)) break;
        await page.keyboard.press('ArrowRight');
      }
      await heading(page, offset);
      const card = viewPane(page).getByRole('listitem').last();
      expect((await card.innerText()).split('\n').at(-1)?.trim()).toBe(text);
    }
  });

  it('shows the calls of a turn as a tree with their times, what went in and out, and the space', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId } = await nestedTurn(scene, person);
    const tab = await inspect(scene, chatId);
    const { page } = tab;
    const steps = turnPane(page).getByRole('list', { name: 'Steps' }).getByRole('button');
    await turnPane(page)
      .getByRole('button', { name: /tool price/ })
      .waitFor();
    const lines = await steps.evaluateAll((buttons) =>
      buttons.map((button) => {
        const name = button.firstElementChild as HTMLElement;
        const bar = button.querySelector('[role=img]')!.getBoundingClientRect();
        return { name: name.innerText.replaceAll('\n', ' '), indent: parseInt(name.style.paddingLeft), at: bar.left };
      }),
    );
    expect(lines.map(({ name }) => name)).toEqual([
      'llm planner',
      'text',
      'tool search',
      'text',
      'tool price',
      'text',
      'llm writer',
      'text',
    ]);
    const at = (name: string) => lines.find((line) => line.name === name)!;
    expect(at('tool search').indent).toBeGreaterThan(at('llm planner').indent);
    expect(at('tool price').indent).toBeGreaterThan(at('tool search').indent);
    expect(at('llm writer').indent).toBe(at('llm planner').indent);
    const starts = ['llm planner', 'tool search', 'tool price', 'llm writer'].map((name) => at(name).at);
    expect(starts, 'each begins after the one before').toEqual([...starts].sort((a, b) => a - b));

    await turnPane(page).getByText('outputTokens').waitFor();
    const search = turnPane(page).getByRole('button', { name: /tool search/ });
    await search.click();
    await turnPane(page).getByRole('group', { name: 'Input' }).getByText('"LIS"').waitFor();
    await turnPane(page).getByRole('group', { name: 'Output' }).getByText('"TP 531"').waitFor();
    await turnPane(page).getByRole('group', { name: 'Space when it began' }).getByText('"Lisbon"').waitFor();
    await turnPane(page).getByText('new "travellers"').waitFor();
    await turnPane(page).getByRole('button', { name: 'Show in the log' }).click();
    await atLine(page, 'step.started');
    await viewPane(page).getByText('"search"').waitFor();
    await search.click();
    await turnPane(page)
      .getByRole('button', { name: /tool price/ })
      .click();
    await turnPane(page).getByRole('group', { name: 'Error' }).getByText('"no answer"').waitFor();

    await page.keyboard.press('End');
    await atLine(page, 'turn.ended');
    const before = await page.locator('[data-cursor]').boundingBox();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowRight');
    await untilPage(page, (x) => document.querySelector('[data-cursor]')!.getBoundingClientRect().left < x, before!.x);
    expectNoFaults(tab);
  });

  it('TRN-9: shows a step that ran again in both of its attempts', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId, run } = await chatWithRun(scene, person);
    await person.follow(chatId);
    const stepId = 's'.repeat(20);
    await run.push({ op: 'step.start', stepId, type: 'llm', input: 'ask' });
    await person.do('turn:stop', { chatId });
    await person.ended(chatId, run.requestId);
    await person.do('turn:resume', { chatId });
    const again = await scene.stage.run(run.requestId, 2);
    await again.push({ op: 'step.start', stepId, type: 'llm' }, { op: 'step.end', stepId, status: 'completed' });
    await again.close();
    const { page } = await inspect(scene, chatId);
    const attempts = turnPane(page).getByRole('list', { name: 'Attempts' }).getByRole('listitem');
    await attempts.nth(1).getByText('completed').waitFor();
    await attempts.nth(0).getByText('stopped').waitFor();
    const line = turnPane(page).getByRole('button', { name: /^llm/ });
    expect(await line.getByRole('img').count()).toBe(2);
  });

  it('lists what a filter asks for: words wherever they stand, a type', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId } = await nestedTurn(scene, person);
    const { page } = await inspect(scene, chatId);
    await atLine(page, 'turn.ended');
    const lines = logPane(page).getByRole('option');
    await page.keyboard.press('/');
    await page.keyboard.type('tp 531');
    await logPane(page)
      .getByText(/^1 of \d+/)
      .waitFor();
    await lines.getByText('TP 531').waitFor();
    await page.getByRole('button', { name: 'Show all events' }).click();
    await page.getByRole('button', { name: 'Events: all' }).click();
    await page.getByRole('menuitemradio', { name: 'step.ended' }).click();
    await logPane(page)
      .getByText(/^5 of \d+/)
      .waitFor();
    expect(await lines.getByText('step.ended').count()).toBe(4);
    await lines.getByText('tool failed').click();
    await viewPane(page)
      .getByRole('heading', { name: /step\.ended/ })
      .waitFor();
    await viewPane(page).getByText('"timeout"').waitFor();
  });

  it('goes on over a restart of the server, with what it had', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const chatId = await person.createChat();
    await person.follow(chatId);
    const { turn } = await person.start(chatId, 'before', { metadata: { delayMs: 0 } });
    await person.ended(chatId, turn.requestId);
    const { page } = await inspect(scene, chatId);
    await atLine(page, 'turn.ended');
    await scene.server.kill();
    await page.getByText('The connection is lost.').waitFor();
    await scene.server.start();
    await logPane(page).getByText('The server began another log').waitFor({ timeout: 30_000 });
    const back = await personAt(scene.server.url);
    await back.start(chatId, 'after the restart', { metadata: { delayMs: 0 } });
    await atLine(page, 'turn.ended');
    await viewPane(page).getByText('after the restart').first().waitFor();
    await page.keyboard.press('Home');
    await atLine(page, 'Here the server’s log begins');
    await page.getByRole('button', { name: /newer$/ }).waitFor();
  });

  it('ACC-2: shows who may only read the log and no steps, and ends with the access', async () => {
    const scene = await startScene();
    const ann = await personAt(scene.server.url, { userId: 'ann', teamId: 'others' });
    const { chatId, run } = await chatWithRun(scene, ann);
    await ann.do('chat:update', { chatId, public: true });
    await run.push({ op: 'step.start', stepId: 's'.repeat(20), type: 'llm', input: 'a secret prompt' });
    const { page } = await openPageAs('bob', `${scene.server.url}/inspector/${chatId}`);
    await atLine(page, 'step.started');
    await turnPane(page).getByText('Steps hold prompts and secrets').waitFor();
    expect(await page.getByText('a secret prompt').count()).toBe(0);
    await ann.do('chat:update', { chatId, public: false });
    await page.getByText('You may not read this chat any more.').waitFor();
    await run.send('not for bob');
    const other = await openPageAs('bob', `${scene.server.url}/inspector/${chatId}`);
    await other.page.getByText('There is no such chat that you may read.').waitFor();
    expect(await page.getByText('not for bob').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has no serious axe finding, %s, and is used on a phone', async (colorScheme) => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId } = await nestedTurn(scene, person);
    await person.do('chat:update', { chatId, title: 'A weekend' });
    const { page } = await openPage(`${scene.server.url}/inspector`, {
      colorScheme,
      viewport: { width: 1280, height: 900 },
    });
    const choice = page.getByRole('button', { name: /^A weekend/ });
    await choice.waitFor();
    expect(await serious(page), 'the choice of a chat').toEqual([]);
    await page.getByRole('searchbox').fill('week');
    await choice.click();
    await turnPane(page)
      .getByRole('button', { name: /tool search/ })
      .click();
    expect(new URL(page.url()).pathname).toBe(`/inspector/${chatId}`);
    expect(await serious(page), 'a chat').toEqual([]);
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowRight');
    expect(await serious(page), 'looking back').toEqual([]);
    await page.setViewportSize({ width: 390, height: 780 });
    for (const pane of ['Turn', 'View', 'Log']) {
      await page.getByRole('button', { name: pane, exact: true }).click();
      await page.getByRole('region', { name: pane }).waitFor();
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(isWider, `${pane} fits`).toBe(false);
      expect(await serious(page), `${pane} on a phone`).toEqual([]);
    }
  });
});
