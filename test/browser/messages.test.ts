import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, openTab, profile } from '../harness/browser.js';
import { expectNoFaults, log, nextRun, openPage, personAt, say, shows, STAGE, startScene } from './scene.js';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A server of pictures somewhere else, and what was asked of it. */
async function pictureServer(): Promise<{ readonly origin: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '');
    response.writeHead(200, { 'content-type': 'image/png', 'cross-origin-resource-policy': 'cross-origin' }).end(PNG);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describeInBrowser('messages at the page', () => {
  it('show a tool call with its state, input and output, thinking, and an error, as they change', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const tab = await openPage(`${scene.server.url}/chats/${chatId}`);
    const { page } = tab;
    await say(page, 'use your tools');
    await page.getByText('stage is at work').waitFor();
    const run = await nextRun(scene);
    const thinking = await run.send('', { type: 'thinking', props: { content: '' } });
    await run.append(thinking, 'which tool to use');
    await page.getByRole('button', { name: 'Thinking which tool to use' }).waitFor();
    await run.push({ op: 'end', messageId: thinking });
    await page.getByRole('button', { name: 'Thought' }).click();
    await shows(page, 'which tool to use');

    const call = await run.send('', {
      type: 'tool_call',
      props: { tool: 'dice', input: { sides: 20 }, state: 'running' },
    });
    const line = page.getByRole('button', { name: /^dice/ });
    await line.filter({ hasText: 'Running' }).click();
    await page.getByRole('group', { name: 'Input' }).getByText('"sides": 20').waitFor();
    await run.push({ op: 'merge', messageId: call, value: { state: 'completed', output: [17] } });
    await line.filter({ hasText: 'Done' }).waitFor();
    await page.getByRole('group', { name: 'Output' }).getByText('17').waitFor();
    await run.push({ op: 'merge', messageId: call, value: { state: 'failed', error: 'It fell off the table.' } });
    await line.filter({ hasText: 'Failed' }).waitFor();
    await page.getByRole('group', { name: 'Error' }).getByText('It fell off the table.').waitFor();

    await run.send('', { type: 'error', props: { message: 'No more dice.', code: 'empty' } });
    await run.close('failed', { error: { code: 'empty', message: 'There were no dice.' } });
    await shows(page, 'No more dice.');
    await page.getByRole('group', { name: 'Unfinished answer' }).getByText('There were no dice.').waitFor();
    await page.getByRole('button', { name: 'Answer again' }).click();
    const again = await nextRun(scene, 1);
    await again.send('Here is another answer.');
    await again.close();
    await shows(page, 'Here is another answer.');
    await log(page).getByText('No more dice.').waitFor({ state: 'detached' });
    expectNoFaults(tab);
  });

  it('offer choices, of which one is taken, seen by all and sent to the assistant', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const { page } = await openPage(`${scene.server.url}/chats/${chatId}`);
    const other = await openPage(`${scene.server.url}/chats/${chatId}`);
    await say(page, 'let me choose');
    const run = await nextRun(scene);
    const buttons = [{ label: 'Tea', value: { drink: 'tea' } }, 'Coffee'];
    const messageId = await run.send('', { type: 'action', props: { buttons } });
    await run.close();
    await page.getByRole('button', { name: 'Tea' }).click();
    const next = await nextRun(scene, 1);
    expect(next.assignment?.input[0]).toMatchObject({
      type: 'action_result',
      props: { messageId, value: { drink: 'tea' } },
    });
    await other.page.getByRole('button', { name: 'Chosen Tea' }).waitFor();
    expect(await other.page.getByRole('button', { name: 'Coffee' }).isDisabled(), 'one is taken, once').toBe(true);
    await next.close();
  });

  it('show code in its colours, and copy it as it was written', async () => {
    const scene = await startScene();
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat({ assistantId: STAGE });
    const context = await profile({ permissions: ['clipboard-read', 'clipboard-write'] });
    const tab = await openTab(context, `${scene.server.url}/chats/${chatId}`);
    const { page } = tab;
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await say(page, 'some code');
    const run = await nextRun(scene);
    const code = 'const answer: string = `<b>${42}</b>`;\n\nconsole.log(answer);';
    const messageId = await run.send('Look:\n\n```ts\nconst answer');
    await log(page).getByRole('group', { name: 'Code, ts' }).getByText('const answer').waitFor();
    await run.append(messageId, `${code.slice('const answer'.length)}\n\`\`\`\n`);
    await run.close();
    await log(page).locator('[style*="--shiki-dark"]').filter({ hasText: 'console' }).waitFor();
    await page.getByRole('button', { name: 'Copy code' }).click();
    await expect.poll(copied).toBe(`${code}\n`);
    await page.getByRole('button', { name: 'Copy answer' }).click();
    await expect.poll(copied).toBe(`Look:\n\n\`\`\`ts\n${code}\n\`\`\`\n`);
    expectNoFaults(tab);
  });

  it('show pictures of the origins that the server names, and links in the place of all others', async () => {
    const [allowed, other] = [await pictureServer(), await pictureServer()];
    const scene = await startScene({ PAGES_IMAGE_ORIGINS: allowed.origin });
    const reader = await personAt(scene.server.url);
    const chatId = await reader.createChat();
    const content = `![in words](${allowed.origin}/a.png) ![far in words](${other.origin}/b.png?said=secret)`;
    await reader.do('message:save', {
      chatId,
      messages: [
        { role: 'assistant', type: 'text', props: { content } },
        { role: 'assistant', type: 'image', props: { url: `${allowed.origin}/c.png`, alt: 'alone' } },
        { role: 'assistant', type: 'image', props: { url: `${other.origin}/d.png`, alt: 'far alone' } },
      ],
    });
    const tab = await openPage(`${scene.server.url}/chats/${chatId}`);
    const { page } = tab;
    for (const name of ['in words', 'alone']) {
      const picture = page.getByRole('img', { name, exact: true });
      await picture.waitFor();
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    }
    for (const name of ['far in words', 'far alone']) {
      expect(await page.getByRole('link', { name, exact: true }).getAttribute('rel')).toBe(
        'noopener noreferrer nofollow',
      );
    }
    await page.getByText('Pictures from elsewhere are not loaded by themselves.').first().waitFor();
    expect(other.asked, 'nothing was asked of a stranger').toEqual([]);
    expect(allowed.asked.toSorted()).toEqual(['/a.png', '/c.png']);
    expectNoFaults(tab);
  });
});
