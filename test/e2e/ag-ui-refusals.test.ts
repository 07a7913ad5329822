import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { agUiScene, hushed, ThreadClient } from './ag-ui-scene.js';
import { headersOf } from './request-as.js';

const said = { id: 'said-1', role: 'user', content: 'Hello' };
const body = (more: Record<string, unknown> = {}) => ({
  threadId: uid('thread'),
  runId: uid('run'),
  messages: [said],
  ...more,
});

async function post(url: string, path: string, sent: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/ag-ui${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  });
  const { error } = (await response.json()) as { error?: { code: string; details?: { path?: string } } };
  return { status: response.status, code: error?.code, path: error?.details?.path };
}

const hostile: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['no thread', { threadId: undefined }, 'threadId'],
  ['a thread that is no id', { threadId: '../etc' }, 'threadId'],
  ['a run that is no id', { runId: { $ne: null } }, 'runId'],
  ['messages that are no list', { messages: 'hello' }, 'messages'],
  ['no message', { messages: [] }, 'messages'],
  ['nobody’s message', { messages: [{ id: 'x', role: 'root', content: 'x' }] }, 'messages.0.role'],
  ['a message without an id', { messages: [{ role: 'user', content: 'x' }] }, 'messages.0.id'],
  ['a content that is none', { messages: [said, { ...said, content: 7 }] }, 'messages.1.content'],
  ['an unknown part', { messages: [{ ...said, content: [{ type: 'exe' }] }] }, 'messages.0.content.0.type'],
  ['a part without a source', { messages: [{ ...said, content: [{ type: 'image' }] }] }, 'messages.0.content.0.source'],
  ['an assistant that is no id', { forwardedProps: { assistantId: 'a b' } }, 'forwardedProps.assistantId'],
  ['an unknown queueing', { forwardedProps: { onBusy: 'panic' } }, 'forwardedProps.onBusy'],
  ['metadata that is no object', { forwardedProps: { metadata: [] } }, 'forwardedProps.metadata'],
  ['tools that are no list', { tools: {} }, 'tools'],
  ['the last word an assistant’s', { messages: [said, { id: 'a', role: 'assistant', content: 'x' }] }, 'messages'],
];

describe('AG-UI: what is refused', () => {
  test('a body that is not of the form is named by its field, and nothing of it is stored', async () => {
    const { url } = await startServer();
    const threadId = uid('thread');
    for (const [what, more, path] of hostile)
      expect(await post(url, '/echo', body({ threadId, ...more })), what).toEqual({
        status: 400,
        code: 'bad_request',
        path,
      });
    expect(await post(url, '/echo', '[]')).toMatchObject({ status: 400, code: 'bad_request' });
    expect(await post(url, '/echo', '{"threadId":')).toMatchObject({ status: 400, code: 'bad_request' });
    expect(await post(url, '/a%20b', body())).toEqual({ status: 400, code: 'bad_request', path: 'assistantId' });
    expect(await post(url, '/connect', {})).toEqual({ status: 400, code: 'bad_request', path: 'threadId' });
    expect(await post(url, '/stop', { threadId: 7 })).toEqual({ status: 400, code: 'bad_request', path: 'threadId' });
    expect((await fetch(`${url}/v1/chats/${threadId}`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('words of others that are nested without end are none, and the run is told', async () => {
    const { url } = await startServer();
    const threadId = uid('thread');
    const first = new ThreadClient(url, { threadId, path: '/echo' });
    await first.ask('Hello');
    const answer = first.messages.at(-1);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const nested of [`"content":${deep}`, `"toolCalls":[{"id":${deep}}]`]) {
      const said = `{"id":"${uid('said')}","role":"user","content":"Again"}`;
      const history = `{"id":"${answer?.id}","role":"assistant",${nested}},${said}`;
      const response = await fetch(`${url}/v1/ag-ui/echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"threadId":"${threadId}","runId":"${uid('run')}","messages":[${history}]}`,
      });
      expect(await response.text()).toContain('"RUN_FINISHED"');
    }
  });

  test('there is nothing but POST', async () => {
    const { url } = await startServer();
    for (const path of ['', '/connect', '/stop', '/echo', '/echo/connect', '/echo/stop']) {
      const response = await fetch(`${url}/v1/ag-ui${path}`);
      expect([response.status, response.headers.get('allow')]).toEqual([404, 'POST']);
    }
  });

  test('ACC-2: another’s thread is as one that is not there; who may read may connect, and not stop', async () => {
    const { url } = await startServer();
    const [ann, bob] = [headersOf({ userId: 'ann' }), headersOf({ userId: 'bob' })];
    const person = await new Person(url, { userId: 'ann' }).open();
    const threadId = await person.createChat();
    const named = { threadId, runId: uid('run') };
    for (const path of ['/connect', '/stop', '/echo/connect'])
      for (const thread of [threadId, uid('none')])
        expect(await post(url, path, { ...named, threadId: thread }, bob), path).toMatchObject({
          status: 404,
          code: 'not_found',
        });
    expect(await post(url, '', body({ threadId }), bob)).toMatchObject({ status: 409, code: 'conflict' });
    await person.do('chat:update', { chatId: threadId, public: true });
    const reader = new ThreadClient(url, { threadId, path: '', as: { userId: 'bob' } });
    await reader.connectAgent();
    expect(reader.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(await post(url, '', body({ threadId }), bob)).toMatchObject({ status: 403, code: 'forbidden' });
    expect(await post(url, '/stop', named, bob)).toMatchObject({ status: 403, code: 'forbidden' });
    expect(await post(url, '/stop', named, ann)).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('no token, no answer; and a token that ends ends the stream with RUN_ERROR, not the turn', async () => {
    const { url, agent, threadId } = await agUiSceneWithTokens();
    const hush = hushed();
    const stranger = new ThreadClient(url, { threadId });
    await expect(stranger.ask('x')).rejects.toMatchObject({ status: 401 });
    hush.mockRestore();
    const token = await tokenFor({ userId: 'ann' }, { expiresIn: 2 });
    const mine = new ThreadClient(url, { threadId, headers: { authorization: `Bearer ${token}` } });
    const runId = uid('run');
    await mine.ask('Go', { runId });
    expect(mine.last).toMatchObject({ type: 'RUN_ERROR', code: 'token_expired', metadata: { isCut: true } });
    const run = await agent.run(runId);
    expect(await run.close()).toMatchObject({ turn: { status: 'completed' } });
  });

  test('ACC-4: who is shut out is told by RUN_ERROR; the turn goes on', async () => {
    const { url, agent, threadId } = await agUiSceneWithTokens();
    const token = await tokenFor({ userId: 'ann' });
    const mine = new ThreadClient(url, { threadId, headers: { authorization: `Bearer ${token}` } });
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    const run = await agent.run(runId);
    await mine.hears('RUN_STARTED');
    const admin = await tokenFor({ userId: 'root', roles: ['admin'] });
    const revoked = await fetch(`${url}/v1/admin/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: 'ann' }),
    });
    expect(await revoked.json()).toEqual({ connections: 1 });
    await asking;
    expect(mine.last).toMatchObject({ type: 'RUN_ERROR', code: 'unauthenticated', metadata: { retryable: false } });
    expect(await run.close()).toMatchObject({ turn: { status: 'completed' } });
  });

  test('a chat that is deleted ends its run as cancelled', async () => {
    const { client, held, url, threadId } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    await held(runId);
    await mine.hears('RUN_STARTED');
    await fetch(`${url}/v1/chats/${threadId}`, { method: 'DELETE' });
    await asking;
    expect(mine.last).toMatchObject({ type: 'RUN_FINISHED', metadata: { stopReason: 'deleted' } });
  });

  test('access that ends, ends the stream with RUN_ERROR', async () => {
    const { url, threadId, agent } = await agUiScene();
    const owner = await new Person(url, { userId: 'ann' }).open();
    await owner.createChat({ chatId: threadId, assistantId: 'bot', public: true });
    const { turn } = await owner.start(threadId, 'Go');
    const run = await agent.run(turn.requestId);
    const reader = new ThreadClient(url, { threadId, as: { userId: 'bob' } });
    const reading = reader.connectAgent();
    await reader.hears('MESSAGES_SNAPSHOT');
    await owner.do('chat:update', { chatId: threadId, public: false });
    await reading;
    expect(reader.last).toMatchObject({ type: 'RUN_ERROR', code: 'not_found' });
    await run.close();
  });

  test('LIF-1: a server that is shut down ends runs with RUN_ERROR', async () => {
    const { client, held, server } = await agUiScene({ env: { DRAIN_MS: '50' } });
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    await held(runId);
    await mine.hears('RUN_STARTED');
    await Promise.all([server.drain(), asking]);
    // Of several nodes, the one that serves the client may close before the turn's end comes to it.
    expect(mine.last?.type).toBe('RUN_ERROR');
    expect(['shutdown', 'draining']).toContain((mine.last as { code: string }).code);
  });
});

/** An agent and its server, which asks everybody for a token. */
async function agUiSceneWithTokens() {
  const { url } = await startServer({ env: JWT_ENV });
  const agent = new Agent(url, ['bot']);
  await agent.open({ token: await tokenFor({ userId: 'bot', roles: ['agent'] }) });
  await agent.attach();
  return { url, agent, threadId: uid('thread') };
}
