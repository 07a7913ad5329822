import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import {
  expectNoFaults,
  field,
  log,
  nextRun,
  openPage,
  openPageAs,
  personAt,
  say,
  shows,
  STAGE,
  startScene,
} from './scene.js';

describeInBrowser('two browsers on one chat', () => {
  it('show the same words of an answer, and who else is here and typing', async () => {
    const scene = await startScene();
    const ann = await personAt(scene.server.url, { userId: 'ann', teamId: 'local' });
    const chatId = await ann.createChat({ assistantId: STAGE, share: 'team' });
    const address = `${scene.server.url}/chats/${chatId}`;
    const [first, second] = await Promise.all([openPageAs('ann', address), openPageAs('bob', address)]);

    await first.page.getByRole('button', { name: 'Also here: bob' }).waitFor();
    await second.page.getByRole('button', { name: 'Also here: ann' }).waitFor();
    await field(second.page).fill('a question of b');
    await first.page.getByText('bob is typing').waitFor();
    await field(second.page).press('Enter');

    const run = await nextRun(scene);
    const messageId = await run.send('To both');
    await Promise.all([first, second].map(({ page }) => shows(page, 'To both')));
    expect(await log(first.page).getByText('bob', { exact: true }).count(), 'who asked is said').toBe(1);
    await run.append(messageId, ' of you.');
    await run.close();
    await Promise.all([first, second].map(({ page }) => shows(page, 'To both of you.')));
    expect(await first.page.getByText('bob is typing').count()).toBe(0);
    expectNoFaults(first);
    expectNoFaults(second);
  });

  it('TRN-5: stop the answer from either one; what was said stands in both', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const address = `${scene.server.url}/chats/${chatId}`;
    const [first, second] = await Promise.all([openPage(address), openPage(address)]);
    await say(first.page, 'a long story, please');
    const run = await nextRun(scene);
    await run.send('Once upon a time');
    await shows(second.page, 'Once upon a time');

    await second.page.getByRole('button', { name: 'Stop (Esc)' }).click();
    await run.aborted();
    for (const { page } of [first, second]) {
      await page.getByRole('group', { name: 'Unfinished answer' }).getByText('Stopped.').waitFor();
      await shows(page, 'Once upon a time');
      await page.getByRole('button', { name: 'Stop (Esc)' }).waitFor({ state: 'detached' });
    }

    await first.page.getByRole('button', { name: 'Go on' }).click();
    const next = await until(() => scene.stage.runs[1], 'the next attempt');
    await next.send('there was a second attempt.');
    await next.close();
    await shows(second.page, 'there was a second attempt.');
    await second.page.getByRole('group', { name: 'Unfinished answer' }).waitFor({ state: 'detached' });
  });

  it('TRN-3: a message sent meanwhile waits in sight of both, and can be withdrawn by either', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const address = `${scene.server.url}/chats/${chatId}`;
    const [first, second] = await Promise.all([openPage(address), openPage(address)]);
    await say(first.page, 'first question');
    const run = await nextRun(scene);
    await run.send('first answer');
    await shows(first.page, 'first answer');
    await say(first.page, 'second question');
    await say(first.page, 'third question');

    const upNext = second.page.getByRole('region', { name: 'Up next' });
    await upNext.getByText('third question').waitFor();
    expect(await log(second.page).getByText('second question').count(), 'what waits is not in the chat yet').toBe(0);
    await upNext
      .getByRole('listitem')
      .filter({ hasText: 'second question' })
      .getByRole('button', { name: 'Withdraw' })
      .click();
    await shows(first.page, 'Withdrawn before it was answered.');
    await run.close();
    const next = await nextRun(scene, 1);
    expect(next.assignment?.input[0]?.props).toEqual({ content: 'third question' });
    await shows(first.page, 'third question');
    await next.close();
  });

  it('SUB-1: a reload in the middle of an answer shows what was said so far, and goes on from there', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await say(page, 'count, please');
    const run = await nextRun(scene);
    const messageId = await run.send('one two');
    await shows(page, 'one two');
    await page.reload();
    await shows(page, 'one two');
    await run.append(messageId, ' three');
    await run.close();
    await shows(page, 'one two three');
    expect(await log(page).getByText('one two').count(), 'it stands once').toBe(1);
  });

  it('ACC-2: who may only read is offered nothing that the server would refuse', async () => {
    const scene = await startScene();
    const ann = await personAt(scene.server.url, { userId: 'ann', teamId: 'others' });
    const chatId = await ann.createChat({ chatId: uid('chat'), assistantId: 'echo', public: true });
    await ann.start(chatId, 'words of ann');
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    await shows(page, 'words of ann');
    await page.getByText('You can read this chat.').waitFor();
    expect(await field(page).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Share' }).count()).toBe(0);

    await ann.do('chat:update', { chatId, public: false });
    await page.getByRole('heading', { name: 'This chat is not shared with you any more' }).waitFor();
  });
});
