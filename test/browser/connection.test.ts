import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { ServerProcess } from '../harness/server-process.js';
import { expectNoFaults, field, log, nextRun, openPage, personAt, say, shows, STAGE, startScene } from './scene.js';

/** What a browser itself calls an error when a server is not there. */
const UNREACHABLE = /WebSocket connection|ERR_CONNECTION|ERR_EMPTY_RESPONSE|Failed to load resource/;

describeInBrowser('the page without a connection', () => {
  it('SUB-2: shows that it reconnects, then what came meanwhile, once, and that it is up to date', async () => {
    const scene = await startScene();
    const proxy = await Proxy.to(scene.server.url, asBytes);
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const tab = await openPage(`${proxy.url}/chats/${chatId}`);
    const { page } = tab;
    await say(page, 'a question');
    const run = await nextRun(scene);
    const messageId = await run.send('before the cut');
    await shows(page, 'before the cut');

    proxy.isUp = false;
    proxy.cut();
    const status = page.getByRole('status', { name: 'Connection' });
    await status.getByText('Reconnecting').waitFor();
    await run.append(messageId, ', and after it');
    await say(page, 'written without a connection');
    await page.getByText('Sending…').waitFor();

    proxy.isUp = true;
    const upToDate = status.getByText('You are up to date').waitFor();
    // It may have tried by itself meanwhile: then the button is gone.
    await Promise.race([upToDate, status.getByRole('button', { name: 'Try now' }).click()]);
    await upToDate;
    await shows(page, 'before the cut, and after it');
    await run.close();
    const next = await nextRun(scene, 1);
    expect(next.assignment?.input[0]?.props).toEqual({ content: 'written without a connection' });
    await next.close();
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    expect(await log(page).getByText('before the cut').count()).toBe(1);
    expect(await log(page).getByText('written without a connection').count(), 'sent once').toBe(1);
    expectNoFaults(tab, UNREACHABLE);
  });

  it('LIF-2: after a kill -9 of the server the answer stands interrupted, and can be gone on with', async () => {
    const server = await new ServerProcess().start();
    const reader = await personAt(server.url);
    const chatId = await reader.createChat();
    const tab = await openPage(`${server.url}/chats/${chatId}`);
    const { page } = tab;
    await field(page).waitFor();
    // Once the page is there: a slow machine would have the answer end before it shows.
    await reader.start(chatId, 'one two three four', { metadata: { delayMs: 2_000 } });
    const answer = log(page).getByRole('article', { name: 'The assistant' });
    await answer.getByText('one').waitFor();
    await server.kill();
    await page.getByRole('status', { name: 'Connection' }).getByText('Reconnecting').waitFor();
    await server.start();
    await page
      .getByRole('group', { name: 'Unfinished answer' })
      .getByText('The server ended in the middle of it.')
      .waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await answer.getByText('one two three four').waitFor();
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    expect(await answer.count(), 'one answer').toBe(1);
    expectNoFaults(tab, UNREACHABLE);
  });

  it('shows why a message was refused; it can be sent again, and discarded', async () => {
    const server = await new ServerProcess({ MAX_QUEUED_TURNS: '1' }).start();
    const reader = await personAt(server.url);
    const chatId = await reader.createChat();
    await reader.start(chatId, 'slow words', { metadata: { delayMs: 60_000 } });
    await reader.start(chatId, 'that waits');
    const { page } = await openPage(`${server.url}/chats/${chatId}`);
    await shows(page, 'slow words');
    await say(page, 'one too many');
    const refused = page.getByRole('alert').filter({ hasText: 'Not sent' });
    await refused.waitFor();
    await refused.getByRole('button', { name: 'Discard' }).click();
    await log(page).getByText('one too many').waitFor({ state: 'detached' });

    await say(page, 'once more');
    await refused.waitFor();
    await page.getByRole('region', { name: 'Up next' }).getByRole('button', { name: 'Withdraw' }).click();
    await shows(page, 'Withdrawn before it was answered.');
    await refused.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('region', { name: 'Up next' }).getByText('once more').waitFor();
    await field(page).press('Escape');
    await shows(page, 'Stopped.');
  });
});
