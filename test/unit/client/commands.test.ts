import { describe, expect, it } from 'vitest';
import type { ChatError } from '../../../protocol/index.js';
import { connectedScene, reconnect, scene } from './connected.js';
import { settle } from './fake-clock.js';
import { CHAT, chatRow, turnRow } from './rows.js';

const started = (requestId: string) => ({ turn: turnRow(requestId), messages: [], duplicate: false });
const errorOf = (promise: Promise<unknown>): Promise<ChatError> =>
  promise.then(
    () => Promise.reject(new Error('it was answered')),
    (error: ChatError) => error,
  );

describe('commands', () => {
  it('CON-4: gives the data of the acknowledgement, or its error', async () => {
    const { client, link } = await connectedScene();
    const got = client.call('chat:get', { chatId: CHAT });
    link.last('chat:get').ok({ chat: chatRow() });
    await expect(got).resolves.toEqual({ chat: chatRow() });
    const refused = errorOf(client.call('chat:get', { chatId: CHAT }));
    link.last('chat:get').refuse('rate_limited', { retryAfterMs: 700, details: { limit: 'x' } });
    expect(await refused).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: 700,
      details: { limit: 'x' },
    });
  });

  it('refuses locally what the server would refuse, and sends nothing', async () => {
    const { client, link } = await connectedScene();
    expect(await errorOf(client.call('message:list', { chatId: CHAT, limit: 201 }))).toMatchObject({
      code: 'bad_request',
      details: { path: 'limit' },
    });
    expect(link.sent).toEqual([]);
  });

  it('C10, DAT-3: refuses a frame that is too large, and goes on with the others', async () => {
    const { client, link, network } = await connectedScene();
    const before = client.call('chat:get', { chatId: CHAT });
    const large = errorOf(client.chat(CHAT).start('x'.repeat(1_100_000)));
    const after = client.call('chat:list', {});
    expect(await large).toMatchObject({
      code: 'payload_too_large',
      details: { limit: 'maxFrameBytes', max: 1_048_576 },
    });
    expect(link.sent.map(({ command }) => command)).toEqual(['chat:get', 'chat:list']);
    link.last('chat:get').ok({ chat: chatRow() });
    link.last('chat:list').ok({ data: [] });
    await Promise.all([before, after]);
    expect(network.links).toHaveLength(1);
  });

  it('C10: checks again against the limits of the server that it meets', async () => {
    const { client, network } = scene();
    const large = errorOf(client.call('turn:start', { chatId: CHAT, input: 'x'.repeat(10_000) }));
    (await network.next()).open({ maxFrameBytes: 5_000 });
    expect(await large).toMatchObject({ code: 'payload_too_large' });
    expect(network.link.sent).toEqual([]);
  });

  it('C10: gives up a command that took five connections with it', async () => {
    const made = await connectedScene();
    const poison = errorOf(made.client.call('chat:list', {}));
    for (let round = 0; round < 5; round++) await reconnect(made);
    expect(await poison).toMatchObject({ code: 'internal', details: { reason: 'connection_lost' } });
    expect(made.network.link.sent).toEqual([]);
  });

  it('C52: an answer that never comes ends in an error, and a late one changes nothing', async () => {
    const { client, link, clock } = await connectedScene({ ackTimeoutMs: 1_000 });
    const asked = errorOf(client.call('chat:get', { chatId: CHAT }));
    clock.advance(1_000);
    expect(await asked).toMatchObject({
      code: 'internal',
      retryable: true,
      details: { reason: 'no_answer', timeoutMs: 1_000 },
    });
    link.last('chat:get').ok({ chat: chatRow() });
    expect(clock.pending).toBe(0);
  });

  it('C06, TRN-1: sends a start again after a loss, as the same request', async () => {
    const made = await connectedScene();
    const start = made.client.call('turn:start', { chatId: CHAT, input: 'hello' });
    const first = made.link.last('turn:start').args;
    const link = await reconnect(made);
    expect(link.of('turn:start').map(({ args }) => args)).toEqual([first]);
    expect(first['requestId']).toMatch(/^[0-9a-f-]{36}$/);
    link.last('turn:start').ok({ ...started(String(first['requestId'])), duplicate: true });
    await expect(start).resolves.toMatchObject({ duplicate: true });
  });

  it('C06: makes the id of a new chat, so that creating it again gives the same one', async () => {
    const made = await connectedScene();
    void made.client.call('chat:create', { assistantId: 'echo' });
    const first = made.link.last('chat:create').args;
    const link = await reconnect(made);
    expect(link.last('chat:create').args).toEqual(first);
    expect(first['chatId']).toBeTypeOf('string');
  });

  it('C06: does not send again what may mean something else by then', async () => {
    const made = await connectedScene();
    const stop = errorOf(made.client.call('turn:stop', { chatId: CHAT }));
    const resume = errorOf(made.client.call('turn:resume', { chatId: CHAT }));
    const named = made.client.call('turn:stop', { requestId: 'turn-1' });
    const link = await reconnect(made);
    expect(await stop).toMatchObject({ details: { reason: 'connection_lost' } });
    expect(await resume).toMatchObject({ details: { reason: 'connection_lost' } });
    expect(link.sent.map(({ args }) => args)).toEqual([{ requestId: 'turn-1' }]);
    link.last('turn:stop').ok({ turn: turnRow('turn-1') });
    await named;
  });

  it('CMD-3: a deletion that was done before its answer was lost is a success', async () => {
    const made = await connectedScene();
    const deleted = made.client.call('chat:delete', { chatId: CHAT });
    (await reconnect(made)).last('chat:delete').refuse('not_found');
    await expect(deleted).resolves.toEqual({ chatId: CHAT });
  });

  it('holds commands back while offline, in their order, up to a limit', async () => {
    const made = scene({ maxQueuedCommands: 3 });
    const { client } = made;
    const start = client.call('turn:start', { chatId: CHAT, input: 'one', requestId: 'turn-1' });
    void client.call('turn:start', { chatId: CHAT, input: 'two' });
    void client.call('turn:stop', { requestId: 'turn-1' });
    expect(await errorOf(client.call('chat:list', {}))).toMatchObject({ code: 'queue_full', details: { max: 3 } });
    const link = (await made.network.next()).open();
    expect(link.sent.map(({ command }) => command)).toEqual(['turn:start', 'turn:start', 'turn:stop']);
    link.of('turn:start')[0]?.ok(started('turn-1'));
    await start;
  });

  it('keeps the order also for who sends from within the connection watch', async () => {
    const made = scene();
    void made.client.call('turn:start', { chatId: CHAT, input: 'one', requestId: 'turn-1' });
    const end = made.client.connection.subscribe(() => {
      if (made.client.connection.getSnapshot().status === 'open')
        void made.client.call('turn:stop', { requestId: 'turn-1' });
    });
    const link = (await made.network.next()).open();
    end();
    expect(link.sent.map(({ command }) => command)).toEqual(['turn:start', 'turn:stop']);
  });

  it('LIF-1: what a draining server refuses is sent to the next one, what came after it behind it', async () => {
    const made = await connectedScene();
    const start = made.client.call('turn:start', { chatId: CHAT, input: 'one', requestId: 'turn-1' });
    const stop = made.client.call('turn:stop', { chatId: CHAT, requestId: 'turn-1' });
    made.link.last('turn:start').refuse('draining');
    made.link.last('turn:stop').refuse('not_found');
    made.link.emit('goaway', { code: 'shutdown', reconnect: true });
    const link = await reconnect(made);
    expect(link.sent.map(({ command }) => command)).toEqual(['turn:start', 'turn:stop']);
    link.last('turn:start').ok(started('turn-1'));
    link.last('turn:stop').ok({ turn: turnRow('turn-1') });
    await Promise.all([start, stop]);
  });

  it('LIF-1: a server that says draining and stays is not waited for without end', async () => {
    const { client, link, clock } = await connectedScene({ ackTimeoutMs: 1_000 });
    const start = errorOf(client.call('turn:start', { chatId: CHAT, input: 'one' }));
    link.last('turn:start').refuse('draining');
    clock.advance(1_000);
    expect(await start).toMatchObject({ code: 'draining' });
  });

  it('C30: what was refused for an expired token is sent again with a fresh one', async () => {
    const { client, link } = await connectedScene({ token: () => 'fresh' });
    const got = client.call('chat:get', { chatId: CHAT });
    link.last('chat:get').refuse('token_expired');
    await settle();
    link.last('auth:refresh').ok({ expiresAt: null });
    link.last('chat:get').ok({ chat: chatRow() });
    await expect(got).resolves.toEqual({ chat: chatRow() });
    expect(link.of('chat:get')).toHaveLength(2);
  });

  it('C52: closing settles everything that waits, and refuses what comes later', async () => {
    const { client } = await connectedScene();
    const waiting = errorOf(client.call('chat:list', {}));
    client.close();
    expect(await waiting).toMatchObject({ details: { reason: 'closed' } });
    expect(await errorOf(client.call('chat:list', {}))).toMatchObject({ details: { reason: 'closed' } });
  });

  it('makes UUIDv7 of the time', async () => {
    const { createIds } = await import('../../../client/id-source.js');
    const { FakeClock } = await import('./fake-clock.js');
    const id = createIds(new FakeClock()).id();
    expect(id).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
