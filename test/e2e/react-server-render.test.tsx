import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { renderToPipeableStream } from 'react-dom/server';
import { expect, onTestFinished, test } from 'vitest';
import type { ChatClient } from '../../client/index.js';
import {
  TurnstreamProvider,
  useChat,
  useChats,
  useConnection,
  useMessage,
  useMessageIds,
  usePresence,
  useSteps,
  useTurn,
} from '../../client/react/index.js';
import { opened } from '../harness/sdk.js';
import { until } from '../harness/until.js';
import { reactScene } from './react-scene.js';

/** Every hook, on a page that says what each of them shows. */
function Everything({ chatId, requestId }: { chatId: string; requestId: string }): ReactNode {
  const shown = {
    chat: useChat(chatId).status,
    ids: useMessageIds(chatId).length,
    message: useMessage('some-message', chatId),
    turn: useTurn(undefined, chatId).status,
    named: useTurn(requestId, chatId).status,
    steps: useSteps(requestId, chatId).status,
    present: usePresence(chatId).users.length,
    chats: useChats({ scope: 'team' }).status,
    connection: useConnection().status,
  };
  return <pre>{JSON.stringify(shown)}</pre>;
}

const NOTHING_YET = {
  chat: 'loading',
  ids: 0,
  message: null,
  turn: 'loading',
  named: 'loading',
  steps: 'loading',
  present: 0,
  chats: 'loading',
  connection: 'idle',
};

const page = (client: ChatClient, chatId: string, requestId: string): ReactNode => (
  <TurnstreamProvider client={client}>
    <Everything chatId={chatId} requestId={requestId} />
  </TurnstreamProvider>
);

const shownIn = (html: string): unknown =>
  JSON.parse((/<pre>(.*)<\/pre>/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"'));

test('on a server every hook shows that nothing is there yet; no window is needed and no connection made', async () => {
  expect('window' in globalThis).toBe(false);
  const { client, chatId } = await reactScene();
  expect(shownIn(renderToString(page(client, chatId, 'some-turn')))).toEqual(NOTHING_YET);
  const { pipe } = renderToPipeableStream(page(client, chatId, 'some-turn'));
  expect(shownIn(await text(pipe(new PassThrough())))).toEqual(NOTHING_YET);
  expect(client.connection.getSnapshot()).toEqual({ status: 'idle' });
});

test('a page is hydrated without a mismatch, also by a client that holds the chat already', async () => {
  const { client, chatId, turn } = await reactScene();
  const run = await turn('hello');
  await run.close();
  const html = renderToString(page(client, chatId, run.requestId));
  await opened(client, chatId);
  await import('../harness/page.js');
  const { hydrateRoot } = await import('react-dom/client');
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = html;
  const server = container.querySelector('pre');
  const problems: unknown[] = [];
  const root = hydrateRoot(container, page(client, chatId, run.requestId), {
    onRecoverableError: (error) => problems.push(error),
    onUncaughtError: (error) => problems.push(error),
  });
  onTestFinished(() => root.unmount());
  const shown = (): Record<string, unknown> => shownIn(container.innerHTML) as Record<string, unknown>;
  await until(() => shown()['chats'] === 'ready' && shown()['steps'] === 'read', 'everything that is read');
  expect(shown()).toEqual({
    chat: 'live',
    ids: 1,
    message: null,
    turn: 'completed',
    named: 'completed',
    steps: 'read',
    present: 1,
    chats: 'ready',
    connection: 'open',
  });
  expect(problems).toEqual([]);
  expect(container.querySelector('pre'), 'the element that came from the server').toBe(server);
});
