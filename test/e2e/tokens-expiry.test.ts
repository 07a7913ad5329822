import { describe, expect, test } from 'vitest';
import type { ChatEvent } from '../../protocol/index.js';
import { ConnectionIdentity } from '../../server/wire/connection-identity.js';
import type { Identity } from '../../server/session/identity.js';
import { Deferred } from '../../server/session/deferred.js';
import { manualClock } from '../contract/manual-clock.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor, unsignedTokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { ALICE, BOB, GRACE_MS, SHORT_OVER_MS, SHORT_S, team, tokenServer, type Team } from './token-scene.js';

const EXPIRED = { code: 'token_expired', reconnect: true };

/** Lets Alice's token end, and waits until she has been told. */
async function expire({ alice, clock }: Team): Promise<void> {
  clock.advance(SHORT_OVER_MS);
  await until(() => alice.goaways.length > 0, 'goaway');
}

/** A turn of Bob's, whose answer has begun, and which Alice has seen so far. */
async function answering({ bob, chatId, agent, hers }: Team) {
  const { turn } = await bob.start(chatId, 'go');
  const { requestId } = turn;
  const run = await agent.run(requestId);
  const messageId = await run.send('before');
  await until(() => hers.text(requestId) === 'before', 'the text');
  return { requestId, run, messageId };
}

describe('C30: the end of a token, on the real clock', () => {
  test('a token of two seconds: served until then, told then, closed after the grace', async () => {
    const { url } = await startServer({ env: { ...JWT_ENV, AUTH_GRACE_MS: '300' } });
    const exp = Math.floor(Date.now() / 1000) + 2;
    const alice = await new Person(url).open({ token: await tokenFor(ALICE, { claims: { exp } }) });
    while (alice.goaways.length === 0) {
      const asked = Date.now();
      const answer = await alice.ask('chat:list');
      if (!answer.ok) expect(answer.error.code).toBe('token_expired');
      if (!answer.ok) expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
      else expect(asked).toBeLessThan(exp * 1000 + 1);
    }
    const told = Date.now();
    expect(told).toBeGreaterThanOrEqual(exp * 1000);
    expect(told).toBeLessThan(exp * 1000 + 1000);
    expect(alice.goaways).toEqual([EXPIRED]);
    expect(alice.disconnectReason).toBeNull();
    await until(() => alice.disconnectReason, 'the end of the connection');
    expect(Date.now() - told).toBeGreaterThanOrEqual(250);
    expect(alice.disconnectReason).toBe('io server disconnect');
    expect(alice.goaways, 'told once').toHaveLength(1);
  });

  test('a token that lasts longer than timers count does not end at once', async () => {
    const { url } = await startServer({ env: JWT_ENV });
    for (const days of [24, 25, 30, 50, 3650, 1e6]) {
      const token = await tokenFor(ALICE, { expiresIn: days * 86_400 });
      const alice = await new Person(url).open({ token });
      const opened = performance.now();
      await until(async () => (await alice.do('chat:list')) && performance.now() - opened > 10, 'commands served');
      expect(alice.goaways, `${days} days`).toEqual([]);
    }
    const endless = await new Person(url).open({ token: await tokenFor(ALICE, { expiresIn: null }) });
    await endless.do('chat:list');
  });

  const DAY_MS = 86_400_000;

  /** What a connection stands on, on a clock that stands still. */
  function standingOf(days: number, admit = (): Promise<Identity> => Promise.reject(new Error('not asked'))) {
    const clock = manualClock();
    const told: string[] = [];
    const after = (ms: number, callback: () => void) => {
      expect(ms, 'what setTimeout can count').toBeLessThanOrEqual(2 ** 31 - 1);
      return clock.after(ms, callback);
    };
    const who = { userId: 'alice', teamId: null, tenantId: null, roles: [], assistants: null, token: null };
    const identity: Identity = { ...who, expiresAt: days * DAY_MS };
    const needs = {
      admission: { admit },
      revocations: { mustStand() {}, watch: () => () => undefined },
      clock: { ...clock, after },
      authGraceMs: GRACE_MS,
      mustFit: () => undefined,
    };
    const standing = new ConnectionIdentity(identity, { address: '127.0.0.1' }, needs, {
      expired: () => told.push('expired'),
      renewed: () => void told.push('renewed'),
      lapsed: () => told.push('lapsed'),
      revoked: () => told.push('revoked'),
    });
    return { standing, identity, clock, told };
  }

  test('nor too late: 60 days, to the millisecond', () => {
    const { standing, clock, told } = standingOf(60);
    clock.advance(60 * DAY_MS - 1);
    standing.mustStand();
    expect(told).toEqual([]);
    clock.advance(1);
    expect(() => standing.mustStand()).toThrow(expect.objectContaining({ code: 'token_expired' }));
    expect(told).toEqual(['expired']);
    clock.advance(GRACE_MS - 1);
    expect(told).toEqual(['expired']);
    clock.advance(1);
    expect(told).toEqual(['expired', 'lapsed']);
    standing.close();
    expect(clock.waiting).toBe(0);
  });

  test('C33: a connection that goes while its token is being renewed leaves nothing behind', async () => {
    const admitted = new Deferred<Identity>();
    const { standing, identity, clock } = standingOf(1, () => admitted.promise);
    const renewing = standing.renew('fresh', {});
    standing.close();
    admitted.resolve({ ...identity, expiresAt: 20 * DAY_MS });
    await renewing;
    expect(clock.waiting).toBe(0);
  });
});

describe('CON-5: after the end of a token', () => {
  test('no command is served and nothing private is sent; a fresh token brings all of it, in order', async () => {
    const scene = await team();
    const { alice, hers, bob, his, chatId, token } = scene;
    const { requestId, run, messageId } = await answering(scene);
    const other = await alice.createChat({ assistantId: 'bot' });
    await expire(scene);
    expect(alice.goaways).toEqual([EXPIRED]);
    const seen = { events: hers.events.length, presences: alice.presences.length };

    for (let index = 0; index < 100; index++) await run.append(messageId, ` ${index}`);
    await run.push({ op: 'signal', name: 'secret', data: 1 });
    await bob.do('typing', { chatId, typing: true });
    await run.close();
    await bob.start(chatId, 'more', { assistantId: 'echo' });
    await bob.ended(chatId, requestId);

    const commands: [string, Record<string, unknown>][] = [
      ['chat:list', {}],
      ['chat:get', { chatId }],
      ['chat:subscribe', { chatId }],
      ['chat:unsubscribe', { chatId }],
      ['message:list', { chatId }],
      ['turn:start', { chatId: other, input: 'x' }],
      ['turn:get', { requestId }],
      ['turn:stop', { chatId }],
      ['step:list', { requestId }],
      ['typing', { chatId, typing: true }],
      ['chat:update', { chatId, title: 'x' }],
      ['chat:delete', { chatId }],
    ];
    for (const [command, args] of commands)
      expect(await alice.refused(command, args), command).toMatchObject({ code: 'token_expired', retryable: true });
    expect(hers.events).toHaveLength(seen.events);
    expect(alice.presences).toHaveLength(seen.presences);
    expect(alice.signals).toEqual([]);
    expect(hers.text(requestId)).toBe('before');

    const answer = await alice.do<{ expiresAt: string }>('auth:refresh', { token: await token(ALICE) });
    expect(Date.parse(answer.expiresAt)).toBeGreaterThan(scene.clock.now());
    await until(() => hers.position?.offset === his.position?.offset, 'the same position');
    expect(hers.messages).toEqual(his.messages);
    expect(hers.text(requestId)).toBe(['before', ...Array.from({ length: 100 }, (_, index) => index)].join(' '));
    expect(hers.ends(requestId)).toHaveLength(1);
    expect(alice.signals).toHaveLength(1);
    await alice.do('chat:get', { chatId });
    expect(alice.goaways).toHaveLength(1);
    scene.clock.advance(GRACE_MS * 2);
    await alice.do('chat:get', { chatId });
    expect(alice.disconnectReason).toBeNull();
  });

  test('not renewed, the connection stays for the grace and is closed then; turns go on to their end', async () => {
    const scene = await team();
    const { alice, hers, bob, his, agent, chatId, token, clock } = scene;
    const { turn } = await alice.start(chatId, 'go');
    const { requestId } = turn;
    const run = await agent.run(requestId);
    const messageId = await run.send('before');
    await until(() => hers.text(requestId) === 'before', 'the text');
    await expire(scene);
    clock.advance(GRACE_MS - 2_000);
    expect(await alice.refused('chat:list')).toMatchObject({ code: 'token_expired' });
    expect(alice.disconnectReason).toBeNull();
    clock.advance(2_000);
    await until(() => alice.disconnectReason, 'the end of the connection');
    expect(alice.disconnectReason).toBe('io server disconnect');
    expect(alice.goaways).toEqual([EXPIRED]);
    await run.append(messageId, ', after');
    await run.close();
    expect(await bob.ended(chatId, requestId)).toMatchObject({ turn: { status: 'completed' } });
    expect(hers.text(requestId)).toBe('before');

    await alice.open({ token: await token(ALICE) });
    await alice.follow(chatId);
    expect(hers.messages, 'back, from her position').toEqual(his.messages);
  });

  test('a refresh before the end moves it', async () => {
    const scene = await team();
    const { alice, clock, token } = scene;
    clock.advance((SHORT_S - 5) * 1000);
    await alice.do('auth:refresh', { token: await token(ALICE, SHORT_S) });
    clock.advance((SHORT_S - 5) * 1000);
    await alice.do('chat:list');
    expect(alice.goaways).toEqual([]);
    await alice.do('auth:refresh', { token: await token(ALICE, 5) });
    clock.advance(7_000);
    expect(await alice.refused('chat:list'), 'also to an earlier one').toMatchObject({ code: 'token_expired' });
    expect(alice.goaways).toEqual([EXPIRED]);
    await alice.do('auth:refresh', { token: await token(ALICE, SHORT_S) });
    await expire(scene);
    await until(() => alice.goaways.length === 2, 'told again');
    await alice.do('auth:refresh', { token: await token(ALICE, SHORT_S) });
    await alice.do('chat:list');
  });

  test.each([false, true])('a token that does not renew changes nothing (after the end: %s)', async (isOver) => {
    const scene = await team();
    const { alice, chatId, token, clock } = scene;
    if (isOver) await expire(scene);
    const { tenantId: _, ...without } = ALICE;
    const refused: [string, unknown][] = [
      ['forbidden', await token({ ...ALICE, userId: 'bob' })],
      ['forbidden', await token({ ...ALICE, userId: 'Alice' })],
      ['forbidden', await token({ ...ALICE, tenantId: 'other' })],
      ['forbidden', await token(without)],
      ['token_expired', await token(ALICE, -10)],
      ['unauthenticated', unsignedTokenFor(ALICE)],
      ['unauthenticated', await token(ALICE, 60, { secret: 'x'.repeat(40) })],
      ['unauthenticated', 'x'],
      ['bad_request', ''],
      ['bad_request', undefined],
      ['bad_request', 7],
      ['bad_request', 'x'.repeat(16_385)],
    ];
    for (const [code, shown] of refused)
      expect(await alice.refused('auth:refresh', { token: shown }), String(shown).slice(-20)).toMatchObject({ code });
    if (isOver) {
      expect(await alice.refused('chat:get', { chatId })).toMatchObject({ code: 'token_expired' });
      clock.advance(GRACE_MS);
    } else {
      await alice.do('chat:update', { chatId, title: 'still hers' });
      await expire(scene);
      clock.advance(GRACE_MS);
    }
    await until(() => alice.disconnectReason, 'the end, when it was to be');
  });

  test('many refreshes at once: the last one counts', async () => {
    const scene = await team();
    const { alice, clock, token } = scene;
    const tokens = [await token(ALICE), await token(ALICE, 5), await token(ALICE, 3000), await token(ALICE, 100)];
    await Promise.all(tokens.map((fresh) => alice.do('auth:refresh', { token: fresh })));
    clock.advance(98_000);
    await alice.do('chat:list');
    clock.advance(4_000);
    expect(await alice.refused('chat:list')).toMatchObject({ code: 'token_expired' });
  });
});

describe('ACC-4: a fresh token of other rights', () => {
  /** Bob follows Alice's chat by right of their team, with a token that ends soon. */
  async function guest() {
    const { url, token, clock, ...scene } = await team();
    const raw: ChatEvent[] = [];
    const bob = await new Person(url).open({ token: await token(BOB, SHORT_S) });
    const ended: unknown[] = [];
    bob.socket.on('events', (batch: ChatEvent[]) => raw.push(...batch));
    bob.socket.on('unsubscribed', (body) => ended.push(body));
    const view = await bob.follow(scene.chatId);
    await scene.alice.do('auth:refresh', { token: await token(ALICE) });
    const { turn } = await scene.alice.start(scene.chatId, 'go');
    const run = await scene.agent.run(turn.requestId);
    const messageId = await run.send('before');
    await until(() => view.text(turn.requestId) === 'before', 'the text');
    const { teamId: _, ...left } = BOB;
    return { ...scene, token, clock, bob, raw, ended, run, messageId, left: await token(left) };
  }

  test('who has left the team hears no more of its chats', async () => {
    const { bob, chatId, run, messageId, left, ended, raw } = await guest();
    await bob.do('auth:refresh', { token: left });
    await until(() => ended.length > 0, 'unsubscribed');
    expect(ended).toEqual([{ chatId }]);
    await run.append(messageId, ', secret');
    expect(await bob.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    expect(raw.filter((event) => JSON.stringify(event).includes('secret'))).toEqual([]);
  });

  test('not even of what was said between the end of the old token and the fresh one', async () => {
    const { bob, chatId, run, messageId, left, ended, raw, clock, his } = await guest();
    clock.advance(SHORT_OVER_MS);
    await until(() => bob.goaways.length > 0, 'goaway');
    await run.append(messageId, ', secret');
    await until(() => his.messages.some(({ props }) => props['content'] === 'before, secret'), 'the others hear it');
    await bob.do('auth:refresh', { token: left });
    await until(() => ended.length > 0, 'unsubscribed');
    expect(await bob.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    expect(raw.filter((event) => JSON.stringify(event).includes('secret'))).toEqual([]);
  });

  test('new rights count from the next command on', async () => {
    const { url, token } = await tokenServer();
    const bob = await new Person(url).open({ token: await token(BOB) });
    const alice = await new Person(url).open({ token: await token(ALICE) });
    const chatId = await alice.createChat();
    expect(await bob.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    await bob.do('auth:refresh', { token: await token({ ...BOB, roles: ['user', 'admin'] }) });
    await bob.do('chat:get', { chatId });
    await bob.do('auth:refresh', { token: await token(BOB) });
    expect(await bob.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
  });
});
