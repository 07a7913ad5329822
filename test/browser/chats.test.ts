import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { ServerProcess } from '../harness/server-process.js';
import { expectNoFaults, openPage, openPageAs, personAt, shows } from './scene.js';

describeInBrowser('the list of chats', () => {
  it('shows them by recency; each can be found, renamed, archived, taken back and deleted', async () => {
    const { url } = await new ServerProcess().start();
    const reader = await personAt(url);
    for (const title of ['Apples', 'Pears', 'Plums']) await reader.createChat({ title });
    const tab = await openPage(url);
    const { page } = tab;
    const list = page.getByRole('list', { name: 'Chats' });
    const titles = (): Promise<string[]> => list.getByRole('link').allInnerTexts();
    await list.getByRole('link', { name: 'Apples' }).waitFor();
    expect(await titles()).toEqual(['Plums', 'Pears', 'Apples']);

    await page.getByRole('searchbox', { name: 'Search titles' }).fill('P');
    await list.getByRole('link', { name: 'Apples' }).waitFor();
    await page.getByRole('searchbox').fill('pl');
    await list.getByRole('link', { name: 'Pears' }).waitFor({ state: 'detached' });
    expect(await titles()).toEqual(['Plums', 'Apples']);
    await page.getByRole('searchbox').fill('');
    await list.getByRole('link', { name: 'Pears' }).waitFor();

    const choose = async (title: string, what: string): Promise<void> => {
      await list.getByRole('link', { name: title }).hover();
      await page.getByRole('button', { name: `More about ${title}` }).click();
      await page.getByRole('menuitem', { name: what }).click();
    };
    await choose('Pears', 'Rename');
    await page.getByRole('textbox', { name: 'Title' }).fill('Quinces');
    await page.keyboard.press('Enter');
    await list.getByRole('link', { name: 'Quinces' }).waitFor();

    await choose('Quinces', 'Archive');
    await list.getByRole('link', { name: 'Quinces' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Shown: My chats' }).click();
    await page.getByRole('menuitemradio', { name: 'My archive' }).click();
    await choose('Quinces', 'Take out of the archive');
    await page.getByText('Nothing is archived.').waitFor();
    await page.getByRole('button', { name: 'Shown: My archive' }).click();
    await page.getByRole('menuitemradio', { name: 'My chats' }).click();

    await list.getByRole('link', { name: 'Quinces' }).click();
    await page.getByRole('heading', { name: 'Quinces' }).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await list.getByRole('link', { name: 'Quinces' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    expect((await reader.do('chat:list', {})).total, 'it is gone').toBe(2);
    expectNoFaults(tab);
  });

  it('reads more of them as they are scrolled to', async () => {
    const { url } = await new ServerProcess().start();
    const reader = await personAt(url);
    for (let number = 1; number <= 75; number++) await reader.createChat({ title: `Chat ${number}` });
    const { page } = await openPage(url);
    await page.getByRole('link', { name: 'Chat 75' }).waitFor();
    await page.getByRole('list', { name: 'Chats' }).hover();
    for (let step = 0; step < 40; step++) {
      if (await page.getByRole('link', { name: 'Chat 1', exact: true }).isVisible()) break;
      await page.mouse.wheel(0, 600);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    }
    await page.getByRole('link', { name: 'Chat 1', exact: true }).waitFor();
  });

  it('ACC-4: a chat that is shared is found by the team, and lost again when it is not', async () => {
    const { url } = await new ServerProcess().start();
    const ann = await personAt(url, { userId: 'ann', teamId: 'local' });
    const chatId = await ann.createChat({ title: 'Plans' });
    await ann.start(chatId, 'words of ann');
    const mine = await openPageAs('ann', `${url}/chats/${chatId}`);
    await mine.page.getByRole('button', { name: 'Share' }).click();
    await mine.page.getByRole('radio', { name: /My team/ }).click();
    await mine.page.getByRole('radio', { name: /My team/, checked: true }).waitFor();
    expect(await mine.page.getByRole('textbox', { name: 'Link' }).inputValue()).toBe(`${url}/chats/${chatId}`);

    const theirs = await openPageAs('bob', url);
    await theirs.page.getByRole('button', { name: 'Shown: My chats' }).click();
    await theirs.page.getByRole('menuitemradio', { name: 'My team’s' }).click();
    await theirs.page.getByRole('link', { name: 'Plans' }).click();
    await shows(theirs.page, 'words of ann');

    await mine.page.getByRole('radio', { name: /Only me/ }).click();
    await theirs.page.getByRole('heading', { name: 'This chat is not shared with you any more' }).waitFor();
  });
});
