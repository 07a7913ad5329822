import { expect, it } from 'vitest';
import { describeInBrowser, profile } from '../harness/browser.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { expectNoFaults, openPage, say, shows } from './scene.js';

describeInBrowser('who one is at the page', () => {
  it('CON-1: is a name that the browser keeps, changed in one place; each name has its own chats', async () => {
    const { url } = await new ServerProcess().start();
    const tab = await openPage(url);
    const { page } = tab;
    await say(page, 'words of local');
    await page.getByRole('navigation').getByRole('link', { name: 'words of local' }).waitFor();

    await page.getByRole('button', { name: 'You are local' }).click();
    await page.getByRole('menuitem', { name: 'Be somebody else' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Zoë');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'You are Zoë' }).waitFor();
    await page.getByRole('heading', { name: 'There is no such chat' }).waitFor();
    expect(await page.getByRole('link', { name: 'words of local' }).count(), 'nothing of the one before').toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'You are Zoë' }).waitFor();
    expectNoFaults(tab);
  });

  it('CON-5: is a token where the server asks for one, kept in the tab alone and in no address', async () => {
    const { url } = await new ServerProcess(JWT_ENV).start();
    const context = await profile();
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url()));
    const page = await context.newPage();
    page.on('websocket', (socket) => addresses.push(socket.url()));
    await page.goto(url);
    const dialog = page.getByRole('dialog', { name: 'Your token' });
    await dialog.getByRole('textbox', { name: 'Token' }).fill('not a token');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor();

    const token = await tokenFor({ userId: 'ann' }, { expiresIn: 600 });
    await dialog.getByRole('textbox', { name: 'Token' }).fill(token);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'You are ann' }).waitFor();
    await page.getByText('token ends in 10 min').waitFor();
    await say(page, 'words of ann');
    await page.getByRole('button', { name: 'Copy answer' }).waitFor();
    await page.reload();
    await shows(page, 'words of ann');

    expect(addresses.filter((address) => address.includes(token.slice(0, 20)))).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toContain(token);
    const stranger = await context.newPage();
    await stranger.goto(page.url());
    await stranger.getByRole('dialog', { name: 'Your token' }).waitFor();
  });

  it('CON-5: a token that ends is asked for anew, and the chat goes on where it was', async () => {
    const { url } = await new ServerProcess({ ...JWT_ENV, AUTH_GRACE_MS: '0' }).start();
    const ann = new Person(url);
    await ann.open({ token: await tokenFor({ userId: 'ann' }) });
    const chatId = await ann.createChat();
    await ann.start(chatId, 'words of ann');
    const context = await profile();
    const page = await context.newPage();
    await page.goto(`${url}/chats/${chatId}`);
    const dialog = page.getByRole('dialog', { name: 'Your token' });
    const give = async (token: string): Promise<void> => {
      await dialog.getByRole('textbox', { name: 'Token' }).fill(token);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
    };
    await give(await tokenFor({ userId: 'ann' }, { expiresIn: 4 }));
    await shows(page, 'words of ann');
    await dialog.waitFor();
    await shows(page, 'words of ann');
    await give(await tokenFor({ userId: 'ann' }));
    await page.getByRole('img', { name: 'You are up to date' }).waitFor();
    await shows(page, 'words of ann');
  });
});
