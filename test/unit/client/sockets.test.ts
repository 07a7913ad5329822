import { describe, expect, it, onTestFinished } from 'vitest';
import { attachAgent, defineAssistant } from '../../../client/agent/index.js';
import { createChatClient, type ChatClient, type ChatClientOptions } from '../../../client/index.js';
import { AGENT_NAMESPACE, ChatError } from '../../../protocol/index.js';
import { becomes } from '../../harness/becomes.js';
import { assigned, STACK } from './agent-scene.js';
import { appended, CHAT, chatRow, created, events, messageRow, position, replay, snapshot, turnRow } from './rows.js';
import { scriptedServer } from './scripted-server.js';

/** Waits are short where a test has to wait for them. */
const QUICK = { backoff: { minMs: 5, maxMs: 20 } };

function clientOf(options: ChatClientOptions): ChatClient {
  const client = createChatClient({ ...QUICK, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe('over real sockets', () => {
  it('CON-1, CON-2: connects with the token and hears hello', async () => {
    const server = await scriptedServer({ maxQueuedTurns: 3 });
    const client = clientOf({ url: server.url, token: () => Promise.resolve('secret') });
    const { auth, socket } = await server.visitor();
    expect(auth).toEqual({ token: 'secret', protocol: 1 });
    expect(socket.conn.transport.name).toBe('websocket');
    await becomes(client.connection, ({ status }) => status === 'open');
    expect(client.limits.maxQueuedTurns).toBe(3);
  });

  it('CON-1, C30: a refusal has its code, and the client stays away', async () => {
    const server = await scriptedServer();
    server.admit = () => new ChatError('unauthenticated', 'no such token');
    const client = clientOf({ url: server.url, token: 'dead' });
    const state = await becomes(client.connection, ({ status }) => status === 'closed');
    expect(state).toMatchObject({ error: { code: 'unauthenticated', message: 'no such token' } });
    expect(server.attempts).toBe(1);
  });

  it('comes back to a server that was not there', async () => {
    const gone = await scriptedServer();
    const client = clientOf({ url: gone.url.replace(/\d+$/, '1') });
    const state = await becomes(client.connection, ({ status }) => status === 'waiting');
    expect(state).toMatchObject({ error: { code: 'internal', details: { reason: 'unreachable' } } });
  });

  it('SUB-2, SUB-3: follows over a broken connection', async () => {
    const server = await scriptedServer();
    const client = clientOf({ url: server.url });
    const chat = client.chat(CHAT);
    chat.open();
    const first = await server.visitor();
    first.socket.emit('events', events(1, [appended('message-1', 0, 'b')]));
    (await first.next('chat:subscribe')).ok(snapshot(1, [messageRow(1, { state: 'open', props: { content: '' } })]));
    await becomes(chat.view, ({ position }) => position?.offset === 2);
    first.socket.conn.close();
    const second = await server.visitor();
    const again = await second.next('chat:subscribe');
    expect(again.args['position']).toEqual(position(2));
    again.ok(replay(3, events(2, [appended('message-1', 1, 'c')])));
    const { messages } = await becomes(chat.view, ({ status }) => status === 'live');
    expect(messages[0]?.props['content']).toBe('bc');
  });

  it('C06: a start whose answer was lost is the same request on the next connection', async () => {
    const server = await scriptedServer();
    const client = clientOf({ url: server.url });
    const start = client.chat(CHAT).start('hello');
    const first = await server.visitor();
    const sent = await first.next('turn:start');
    first.socket.conn.close();
    const again = await (await server.visitor()).next('turn:start');
    expect(again.args).toEqual(sent.args);
    again.ok({ turn: turnRow('turn-1'), messages: [], duplicate: true });
    await expect(start).resolves.toMatchObject({ duplicate: true });
  });

  it('C10: never sends the frame for which a server would close the connection', async () => {
    const server = await scriptedServer();
    const client = clientOf({ url: server.url });
    const visitor = await server.visitor();
    await becomes(client.connection, ({ status }) => status === 'open');
    await expect(client.chat(CHAT).start('x'.repeat(5_000_000))).rejects.toMatchObject({ code: 'payload_too_large' });
    const got = client.call('chat:get', { chatId: CHAT });
    (await visitor.next('chat:get')).ok({ chat: chatRow() });
    await got;
    expect(server.attempts).toBe(1);
  });

  it('C03: half a character on either side of the wire is not touched', async () => {
    const server = await scriptedServer();
    const client = clientOf({ url: server.url });
    const chat = client.chat(CHAT);
    chat.open();
    const visitor = await server.visitor();
    (await visitor.next('chat:subscribe')).ok(snapshot(1, []));
    visitor.socket.emit(
      'events',
      events(1, [
        created(messageRow(1, { state: 'open', props: { content: '' } })),
        appended('message-1', 0, '\u{1F468}‍\u{1F469}'),
      ]),
    );
    const { messages } = await becomes(chat.view, ({ position }) => position?.offset === 3);
    expect(messages[0]?.props['content']).toBe('\u{1F468}‍\u{1F469}');
  });

  it('CON-6: stays away when it is told to', async () => {
    const server = await scriptedServer();
    const client = clientOf({ url: server.url });
    const { socket } = await server.visitor();
    socket.emit('goaway', { code: 'revoked', reconnect: false });
    socket.disconnect(true);
    const state = await becomes(client.connection, ({ status }) => status === 'closed');
    expect(state).toMatchObject({ error: { details: { goaway: 'revoked' } } });
    expect(server.attempts).toBe(1);
  });

  it('an agent attaches, takes a turn and streams it, half characters included (DAT-1)', async () => {
    const server = await scriptedServer({}, AGENT_NAMESPACE);
    const bot = defineAssistant({
      assistantId: 'bot',
      async run(ctx) {
        const messageId = await ctx.send('');
        for (const unit of 'a\u{1F600}'.split('')) await ctx.append(messageId, unit);
      },
    });
    const agent = attachAgent({ ...QUICK, url: server.url, agentId: 'agent-1', assistants: [bot] });
    onTestFinished(() => agent.close({ drain: false }));
    const visitor = await server.visitor();
    (await visitor.next('agent:attach')).ok({ assigned: [] });
    await becomes(agent.state, ({ attached }) => attached);
    expect(await visitor.socket.emitWithAck('turn:assigned', assigned('turn-1'))).toEqual({ ok: true });
    const ops: unknown[] = [];
    for (let seq = 1; ops.length < 4; seq++) {
      const push = await visitor.next('turn:push');
      expect(push.args).toMatchObject({ requestId: 'turn-1', attempt: 1, stackId: STACK, seq });
      ops.push(...(push.args['ops'] as unknown[]));
      push.ok({ seq });
    }
    expect(ops.slice(1).map((op) => (op as { text: string }).text)).toEqual(['a', '\ud83d', '\ude00']);
    (await visitor.next('turn:close')).ok({ turn: turnRow('turn-1'), persisted: true });
    await becomes(agent.state, ({ running }) => running === 0);
  });
});
