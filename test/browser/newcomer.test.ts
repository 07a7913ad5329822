import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { ServerProcess } from '../harness/server-process.js';
import { expectNoFaults, field, log, openPage, say, shows } from './scene.js';

describeInBrowser('a newcomer at the page', () => {
  it('sees an answer stream after one click, and the chat in the list with a title', async () => {
    const { url } = await new ServerProcess().start();
    const tab = await openPage(url);
    const { page } = tab;
    await page.getByRole('button', { name: 'Watch it stream' }).click();

    const answer = log(page).getByRole('article', { name: 'The assistant' });
    await answer.getByText('Every word of this answer').waitFor();
    const early = await answer.innerText();
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    const whole = await answer.innerText();
    expect(whole).toMatch(/stops in both\.$/);
    expect(early.length, 'words were seen before the last one came').toBeLessThan(whole.length);
    expect(whole.startsWith(early), 'what was seen stands').toBe(true);

    expect(new URL(page.url()).pathname).toMatch(/^\/chats\/[\w-]+$/);
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Every word of this answer/ })
      .waitFor();
    expectNoFaults(tab);
  });

  it('sees what was said in every frame from the moment it is said', async () => {
    const { url } = await new ServerProcess().start();
    const { page } = await openPage(url);
    const text = 'these words do not go away';
    await page.evaluate((words) => {
      const seen: boolean[] = [];
      const look = (): void => {
        seen.push(document.querySelector('main')?.innerText.includes(words) ?? false);
        requestAnimationFrame(look);
      };
      look();
      Object.assign(window, { seen });
    }, text);
    await say(page, text);
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    const frames = await page.evaluate(() => (window as unknown as { seen: boolean[] }).seen);
    const said = frames.slice(frames.indexOf(true));
    expect(said.filter((isShown) => !isShown).length, `of ${said.length} frames`).toBe(0);
  });

  it('finds the chat as it was after a reload, and a new one beside it', async () => {
    const { url } = await new ServerProcess().start();
    const tab = await openPage(url);
    const { page } = tab;
    await say(page, 'first words');
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    expect(await log(page).getByText('first words').count(), 'the question and its echo').toBe(2);

    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'What shall we talk about?' }).waitFor();
    await say(page, 'other words');
    await shows(page, 'other words');
    expect(await log(page).getByText('first words').count(), 'nothing of the chat before').toBe(0);
    await page.goBack();
    await shows(page, 'first words');
    expectNoFaults(tab);
  });

  it('keeps what was written and not sent over a reload', async () => {
    const { url } = await new ServerProcess().start();
    const { page } = await openPage(url);
    await say(page, 'hello');
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    await field(page).fill('half a thought');
    await page.reload();
    await shows(page, 'hello');
    expect(await field(page).inputValue()).toBe('half a thought');
  });
});
