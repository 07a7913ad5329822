import '../harness/page.js';
import { act, renderHook, waitFor } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import {
  useChat,
  useChatSnapshot,
  useClient,
  useConnection,
  usePresence,
  useSteps,
  useTurn,
} from '../../client/react/index.js';
import { becomes } from '../harness/becomes.js';
import { uid } from '../harness/peer.js';
import { Proxy } from '../harness/proxy.js';
import { clientOf, endOf, opened } from '../harness/sdk.js';
import { until } from '../harness/until.js';
import { hook, reactScene } from './react-scene.js';

describe('useTurn', () => {
  test('a turn from its input to its end, with the steps that events tell of', async () => {
    const { client, agent, chatId } = await reactScene();
    const turn = hook(client, () => useTurn(undefined, chatId));
    expect(turn.now().status).toBe('loading');
    await waitFor(() => expect(turn.now().status).toBe('none'));
    const requestId = uid('turn');
    await act(async () => void (await client.chat(chatId).start('hello', { requestId })));
    const run = await agent.run(requestId);
    await waitFor(() => expect(turn.now()).toMatchObject({ status: 'running', turn: { requestId }, steps: [] }));
    const stepId = uid('step');
    await run.push({ op: 'step.start', stepId, type: 'llm', input: { prompt: 'secret' } });
    await waitFor(() => expect(turn.now().steps).toMatchObject([{ stepId, status: 'running' }]));
    const renders = turn.all.length;
    const messageId = await run.send('');
    for (let word = 0; word < 5; word++) await run.append(messageId, `${word} `);
    const { view } = client.chat(chatId);
    await becomes(view, ({ messages }) => messages.at(-1)?.props['content'] === '0 1 2 3 4 ');
    expect(turn.all).toHaveLength(renders);
    await run.push({ op: 'step.end', stepId, status: 'completed', output: 'done' });
    await run.close();
    await waitFor(() => expect(turn.now()).toMatchObject({ status: 'completed', isResumable: false }));
    const order = ['loading', 'none', 'sending', 'queued', 'running', 'completed'];
    const seen = turn.all.map(({ status }) => order.indexOf(status));
    expect(seen).toEqual([...seen].sort());
  });

  test('TRN-5, TRN-9: stop, resume and the next attempt', async () => {
    const { client, chatId, agent } = await reactScene();
    const chat = await opened(client, chatId);
    const { turn: row } = await chat.start('hello');
    const run = await agent.run(row.requestId);
    const turn = hook(client, () => useTurn(row.requestId, chatId));
    expect(turn.now().status).toBe('running');
    await act(async () => void (await turn.now().stop()));
    await run.aborted();
    await waitFor(() => expect(turn.now()).toMatchObject({ status: 'interrupted', isResumable: true }));
    await act(async () => void (await turn.now().resume()));
    const next = await agent.run(row.requestId, 2);
    await waitFor(() => expect(turn.now()).toMatchObject({ status: 'running', turn: { attempt: 2 } }));
    await next.close();
    await waitFor(() => expect(turn.now().status).toBe('completed'));
    await act(async () => void (await turn.now().regenerate()));
    await becomes(chat.view, ({ turns }) => turns.size === 2);
  });

  test('C20: a refused input is a state, with the reason, until it is sent again or given up', async () => {
    const { client, agent, chatId, turn: startOther } = await reactScene();
    const chat = await opened(client, chatId);
    const running = await startOther();
    const requestId = uid('turn');
    const turn = hook(client, () => useTurn(requestId, chatId));
    await expect(chat.start('hello', { requestId, onBusy: 'reject' })).rejects.toMatchObject({ code: 'turn_busy' });
    await waitFor(() => expect(turn.now()).toMatchObject({ status: 'refused', error: { code: 'turn_busy' } }));
    await running.close();
    await endOf(chat, running.requestId);
    await act(async () => void (await turn.now().retry()));
    await (await agent.run(requestId)).close();
    await waitFor(() => expect(turn.now().status).toBe('completed'));
  });

  test('a turn of an older page is asked for, once; one that is not there is unknown', async () => {
    const { url, chatId, turn: startOther } = await reactScene();
    const first = await startOther('first');
    await first.close();
    for (let count = 0; count < 3; count++) await (await startOther()).close();
    const proxy = await Proxy.to(url);
    let answers = 0;
    proxy.fate = (frame) => {
      if (/^43\d+\[\{"ok":true,"data":\{"turn":/.test(frame)) answers++;
      return 'pass';
    };
    const client = clientOf(proxy.url, { auth: { userId: 'ann', teamId: 't1' }, messageLimit: 1 });
    const both = hook(client, () => [useTurn(first.requestId, chatId), useTurn(first.requestId, chatId)]);
    await waitFor(() => expect(both.now()[0]).toMatchObject({ status: 'completed' }));
    expect(both.now()[1]?.turn).toBe(both.now()[0]?.turn);
    const unknown = hook(client, () => useTurn('nowhere', chatId));
    await waitFor(() => expect(unknown.now()).toMatchObject({ status: 'unknown', error: { code: 'not_found' } }));
    expect(answers).toBe(1);
  });
});

test('useSteps: those recorded, also from before, and at the end what came of them', async () => {
  const { client, chatId, turn: startOther } = await reactScene();
  const run = await startOther();
  const [first, second] = [uid('step'), uid('step')];
  await run.push({ op: 'step.start', stepId: first, type: 'llm', input: { prompt: 'why' } });
  await run.push({ op: 'step.end', stepId: first, status: 'completed', output: 'because' });
  const steps = hook(client, () => useSteps(run.requestId, chatId));
  await waitFor(() => expect(steps.now().value).toMatchObject([{ stepId: first, output: 'because' }]));
  await run.push({ op: 'step.start', stepId: second, type: 'tool', input: { name: 'search' } });
  await waitFor(() =>
    expect(steps.now().value).toMatchObject([{ stepId: first }, { stepId: second, status: 'running' }]),
  );
  await run.push({ op: 'step.end', stepId: second, status: 'completed', output: 'found' });
  await run.close();
  await waitFor(() => expect(steps.now().value).toMatchObject([{ output: 'because' }, { output: 'found' }]));
  expect(steps.now().value?.map(({ stepId }) => stepId)).toEqual([first, second]);
});

test('useSteps, ACC-2: who may not talk in the chat is refused them', async () => {
  const { url, other, chatId, turn: startOther } = await reactScene();
  await other.chat(chatId).update({ public: true, share: 'private' });
  const run = await startOther();
  const reader = clientOf(url, { auth: { userId: 'reader' } });
  const steps = hook(reader, () => useSteps(run.requestId, chatId));
  await waitFor(() => expect(steps.now()).toMatchObject({ status: 'refused', error: { code: 'forbidden' } }));
});

test('usePresence, SUB-8: who is here, who is typing, and no longer when the component has gone', async () => {
  const { client, other, chatId } = await reactScene();
  const theirs = await opened(other, chatId);
  const mine = hook(client, () => usePresence(chatId));
  await waitFor(() => expect(mine.now().others).toEqual([{ userId: 'other', typing: false }]));
  expect(mine.now().users).toContainEqual({ userId: 'ann', typing: false });
  theirs.setTyping(true);
  await waitFor(() => expect(mine.now().typing).toEqual([{ userId: 'other', typing: true }]));
  const anIsTyping = () => theirs.view.getSnapshot().presence.some(({ userId, typing }) => userId === 'ann' && typing);
  mine.now().setTyping(true);
  await until(anIsTyping, 'the typing');
  // Something else keeps the chat followed: it is the component that ends the typing.
  client.chat(chatId).open();
  mine.unmount();
  await until(() => !anIsTyping(), 'the end of the typing');
  expect(theirs.view.getSnapshot().presence.map(({ userId }) => userId)).toContain('ann');
});

test('useConnection: lost, waiting for the next attempt, back, and up to date again', async () => {
  const { url, chatId } = await reactScene();
  const proxy = await Proxy.to(url);
  const client = clientOf(proxy.url, { auth: { userId: 'ann', teamId: 't1' }, autoConnect: false });
  const shown = hook(client, () => ({ connection: useConnection(), chat: useChat(chatId).status }));
  expect(shown.all[0]?.connection).toMatchObject({ status: 'idle', isUpToDate: false });
  await waitFor(() => expect(shown.now()).toMatchObject({ connection: { status: 'open', isUpToDate: true } }));
  expect(shown.now().connection).toMatchObject({ user: { userId: 'ann' } });
  proxy.isUp = false;
  proxy.cut();
  const isWaiting = ({ connection }: (typeof shown.all)[number]): boolean =>
    connection.status === 'reconnecting' && connection.retryAt !== null && connection.failures > 1;
  await until(() => shown.all.some(isWaiting), 'another attempt');
  const waiting = shown.all.find(isWaiting)?.connection;
  expect(waiting).toMatchObject({ isUpToDate: false, error: { code: 'internal' } });
  proxy.isUp = true;
  await waitFor(() => expect(shown.now().connection).toMatchObject({ status: 'open', isUpToDate: true }));
  // Up to date is said when the chat is live, and not before.
  for (const { connection, chat } of shown.all) if (connection.isUpToDate) expect(chat).toBe('live');
  act(() => shown.now().connection.close());
  expect(shown.now().connection).toEqual(expect.objectContaining({ status: 'closed', error: null, isUpToDate: false }));
  act(() => shown.now().connection.connect());
  await waitFor(() => expect(shown.now().connection).toMatchObject({ status: 'open', isUpToDate: true }));
});

describe('useChatSnapshot and what is given', () => {
  test('renders when the selection is another one', async () => {
    const { client, other, chatId, turn } = await reactScene();
    const title = hook(client, () => useChatSnapshot(({ chat }) => chat?.title ?? null, { chatId }));
    await other.chat(chatId).update({ title: 'one' });
    await waitFor(() => expect(title.now()).toBe('one'));
    const renders = title.all.length;
    const run = await turn();
    await run.send('word');
    await run.close();
    await endOf(client.chat(chatId), run.requestId);
    expect(title.all).toHaveLength(renders);
  });

  test('actions are the same functions in every render', async () => {
    const { client, chatId } = await reactScene();
    const chat = hook(client, () => useChat(chatId));
    await waitFor(() => expect(chat.now().status).toBe('live'));
    expect(new Set(chat.all.map(({ start }) => start)).size).toBe(1);
    expect(chat.all.length).toBeGreaterThan(1);
  });

  test('without a provider, and without a chat, the error says what is missing', async () => {
    const { client } = await reactScene();
    expect(() => renderHook(() => useClient())).toThrow('TurnstreamProvider');
    expect(() => hook(client, () => useChat())).toThrow('ChatProvider');
  });
});
