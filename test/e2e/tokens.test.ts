import { expect, describe, test } from 'vitest';
import { errorBody, type ErrorBody } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { tokenFor, unsignedTokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { readEvents } from './sse-reader.js';
import { ADMIN, ALICE, bearer, BOT, connectError, team, tokenServer } from './token-scene.js';

const BOTH = { ...ALICE, roles: ['user', 'agent'] } satisfies As;

async function refusedOver(url: string, path: string, headers: Record<string, string>): Promise<ErrorBody> {
  const response = await fetch(url + path, { headers });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  return ((await response.json()) as { error: ErrorBody }).error;
}

const headersOf = (token: string | undefined) => (token === undefined ? {} : bearer(token));
const authOf = (token: string | undefined) => (token === undefined ? {} : { token });

/** Every way in, and the refusal that it gives to a token. */
const doors: Record<string, (url: string, token: string | undefined) => Promise<ErrorBody>> = {
  'a socket of people': (url, token) => connectError(new Person(url, BOTH).open(authOf(token))),
  'a socket of agents': (url, token) => connectError(new Agent(url, ['bot'], { as: BOTH }).open(authOf(token))),
  'a request': (url, token) => refusedOver(url, '/v1/chats', headersOf(token)),
  'an event stream': (url, token) => refusedOver(url, '/v1/chats/c1/events', headersOf(token)),
};

const tokens: [string, string, () => Promise<string | undefined>][] = [
  ['no token', 'unauthenticated', async () => undefined],
  ['what is no token', 'unauthenticated', async () => 'let-me-in'],
  ['a token by another secret', 'unauthenticated', () => tokenFor(BOTH, { secret: 'x'.repeat(64) })],
  ['a token without a signature', 'unauthenticated', async () => unsignedTokenFor(BOTH)],
  ['a token of nobody', 'unauthenticated', () => tokenFor({ roles: ['user', 'agent'] })],
  ['a token that is not valid yet', 'unauthenticated', () => tokenFor(BOTH, { claims: { nbf: 4e9 } })],
  ['an expired token', 'token_expired', () => tokenFor(BOTH, { expiresIn: -1 })],
];

describe('CON-1: the way in', () => {
  test('a good one opens every door, and says who one is', async () => {
    const { url, token } = await tokenServer();
    const good = await token(BOTH);
    const person = await new Person(url).open({ token: good });
    expect(person.hello?.user).toEqual(BOTH);
    const agent = await new Agent(url, ['bot']).open({ token: good });
    expect(agent.hello?.user).toEqual(BOTH);
    await agent.attach();
    const chatId = await person.createChat();
    const response = await fetch(`${url}/v1/chats/${chatId}`, { headers: bearer(good) });
    expect(await response.json()).toMatchObject({ chat: { createdBy: 'alice', teamId: 'blue', tenantId: 'acme' } });
    using stream = await readEvents(`${url}/v1/chats/${chatId}/events`, bearer(good));
    await stream.until(({ events }) => events.length === 1);
    expect(stream.events[0]).toMatchObject({ event: 'snapshot', data: { chat: { chatId } } });
  });

  describe.each(Object.entries(doors))('%s', (_, door) => {
    test.each(tokens)('with %s is %s', async (_, code, make) => {
      const { url } = await tokenServer();
      const error = await door(url, await make());
      expect(error).toMatchObject({ code, retryable: code === 'token_expired' });
      expect(errorBody.strict().parse(error), 'section 7').toEqual(error);
    });
  });

  test('C26: a token of another form than text, and one too many headers, are refused like none', async () => {
    const { url, token } = await tokenServer();
    const good = await token(BOTH);
    for (const odd of [7, null, {}, [good], { toString: good }, true, '', ' ', `${good} `.repeat(2)])
      expect(await connectError(new Person(url).open({ token: odd }))).toMatchObject({ code: 'unauthenticated' });
    const odd = ['Basic YTpi', good, 'Bearer', 'Bearer ', `Bearer ${good} ${good}`, `Bearer,${good}`, `Token ${good}`];
    for (const authorization of odd)
      expect(await refusedOver(url, '/v1/chats', { authorization })).toMatchObject({ code: 'unauthenticated' });
    for (const query of ['token', 'access_token', 'authorization'])
      expect(await refusedOver(url, `/v1/chats?${query}=${good}`, {})).toMatchObject({ code: 'unauthenticated' });
    expect(await refusedOver(url, '/v1/chats', { cookie: `token=${good}` })).toMatchObject({ code: 'unauthenticated' });
  });

  test('what a caller says of themselves beside the token is not looked at', async () => {
    const { url, token } = await tokenServer();
    const good = await token(ALICE);
    const said = { userId: 'bob', teamId: 'red', tenantId: 'other', roles: ['admin', 'agent'] };
    const person = await new Person(url, said).open({ token: good, sub: 'bob', team_id: 'red' });
    expect(person.hello?.user).toEqual(ALICE);
    expect((await person.do('chat:create', { assistantId: 'echo' })).chat).toMatchObject({
      createdBy: 'alice',
      teamId: 'blue',
      tenantId: 'acme',
    });
    expect(await connectError(new Agent(url, ['bot'], { as: said }).open({ token: good }))).toMatchObject({
      code: 'forbidden',
      retryable: false,
    });
    const headers = { 'x-user-id': 'bob', 'x-team-id': 'red', 'x-tenant-id': 'other', 'x-roles': 'admin' };
    const created = await fetch(`${url}/v1/chats`, {
      method: 'POST',
      headers: { ...headers, ...bearer(good), 'content-type': 'application/json' },
      body: '{"assistantId":"echo"}',
    });
    expect(await created.json()).toMatchObject({ chat: { createdBy: 'alice', teamId: 'blue', tenantId: 'acme' } });
    const revoking = { method: 'POST', headers: { ...headers, ...bearer(good), 'content-type': 'application/json' } };
    const revoked = await fetch(`${url}/v1/admin/revoke`, { ...revoking, body: '{"userId":"bob"}' });
    expect(revoked.status).toBe(403);
    expect(await refusedOver(url, '/v1/chats', headers)).toMatchObject({ code: 'unauthenticated' });
  });

  test('ACC-3: an agent serves the assistants that its token names', async () => {
    const { url, token } = await tokenServer();
    const attach = async (assistants: string[], named?: readonly string[]) => {
      const made = await token(BOT, 60, named ? { assistants: named } : {});
      return (await new Agent(url, assistants).open({ token: made })).ask('agent:attach', {
        agentId: 'a',
        assistants: assistants.map((assistantId) => ({ assistantId })),
      });
    };
    expect(await attach(['one'], ['one', 'two'])).toMatchObject({ ok: true });
    expect(await attach(['one', 'three'], ['one', 'two'])).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(await attach(['one'], [])).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(await attach(['whatever'])).toMatchObject({ ok: true });
  });

  test('ACC-1: two of one name in two tenants are two', async () => {
    const { url, token } = await tokenServer();
    const person = await new Person(url).open({ token: await token(ALICE) });
    const chatId = await person.createChat({ public: true });
    for (const tenantId of ['acme2', undefined]) {
      const { tenantId: _, ...rest } = ALICE;
      const other = await new Person(url).open({ token: await token(tenantId ? { ...rest, tenantId } : rest) });
      expect(await other.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    }
  });
});

describe('CON-5: an event stream has no way to renew its token', () => {
  test('it ends at the end of the token, with all that came before, and goes on from there with a fresh one', async () => {
    const { url, token, clock, chatId, bob, agent } = await team();
    const path = `${url}/v1/chats/${chatId}/events`;
    const { turn } = await bob.start(chatId, 'go');
    const run = await agent.run(turn.requestId);
    const messageId = await run.send('one');
    using stream = await readEvents(path, bearer(await token(ALICE, 30)));
    await stream.until(({ events }) => events.length > 0);
    await run.append(messageId, ' two');
    await stream.until(({ events }) => events.at(-1)?.event === 'message');
    clock.advance(29_000);
    await run.append(messageId, ' three');
    await stream.until(({ events }) => (events.at(-1)?.data as { text?: string }).text === ' three');
    expect(stream.ended).toBe(false);
    clock.advance(2_000);
    await until(() => stream.ended, 'the end of the stream');
    await run.append(messageId, ' four');
    expect(stream.events).toHaveLength(3);
    expect(stream.comments).not.toContain('error');
    const last = stream.events.at(-1)?.id ?? '';
    using again = await readEvents(path, { ...bearer(await token(ALICE, 30)), 'last-event-id': last });
    await again.until(({ events }) => events.length > 0);
    expect(again.events[0]).toMatchObject({ event: 'message', data: { text: ' four' } });
  });

  test('a token that ended between two requests serves the first only', async () => {
    const { url, token, clock } = await tokenServer();
    const headers = bearer(await token(ALICE, 5));
    expect((await fetch(`${url}/v1/chats`, { headers })).status).toBe(200);
    clock.advance(6_000);
    expect(await refusedOver(url, '/v1/chats', headers)).toMatchObject({ code: 'token_expired' });
  });
});

describe('ACC-4, CON-6: revocation', () => {
  const revoke = async (url: string, token: string, body: Record<string, unknown>) => {
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    return fetch(`${url}/v1/admin/revoke`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  /** Issued after any revocation of this test. */
  const later = () => ({ claims: { iat: Math.ceil(Date.now() / 1000) + 1 } });

  test('who is revoked hears nothing more, does not come back with what they have, also after a restart', async () => {
    const { server, url, token, chatId, alice, hers, bob, his, agent } = await team();
    const old = await token(ALICE);
    using stream = await readEvents(`${url}/v1/chats/${chatId}/events`, bearer(old));
    await stream.until(({ events }) => events.length > 0);
    const { turn } = await bob.start(chatId, 'go');
    const run = await agent.run(turn.requestId);
    const messageId = await run.send('before');
    await until(() => hers.text(turn.requestId) === 'before', 'the text');

    const answer = await revoke(url, await token(ADMIN), { userId: 'alice' });
    expect(await answer.json()).toEqual({ connections: 2 });
    await run.append(messageId, ', after');
    await until(() => alice.disconnectReason !== null && stream.ended, 'both connections end');
    expect(alice.goaways).toEqual([{ code: 'revoked', reconnect: false }]);
    await run.close();
    await bob.ended(chatId, turn.requestId);
    expect(his.text(turn.requestId), 'running turns go on').toBe('before, after');
    expect(hers.text(turn.requestId)).toBe('before');
    expect(JSON.stringify(stream.events)).not.toContain('after');

    const expectOut = async (at: string) => {
      for (const door of Object.values(doors).filter((_, index) => index !== 1))
        expect(await door(at, old)).toMatchObject({ code: 'unauthenticated', retryable: false });
    };
    await expectOut(url);
    await server.close();
    const restarted = await tokenServer({ dataDir: server.dataDir });
    await expectOut(restarted.url);
    const back = await new Person(restarted.url).open({ token: await token(ALICE, 60, later()) });
    expect((await back.follow(chatId)).text(turn.requestId), 'let in again').toBe('before, after');
  });

  test('only one token, where only one is named; only one tenant', async () => {
    const { url, token } = await tokenServer();
    const [one, two] = [await token(ALICE, 60, { claims: { jti: 'one' } }), await token(ALICE)];
    const [first, second] = [await new Person(url).open({ token: one }), await new Person(url).open({ token: two })];
    const elsewhere = { ...ADMIN, tenantId: 'other' };
    expect(await (await revoke(url, await token(elsewhere), { jti: 'one' })).json()).toEqual({ connections: 0 });
    expect(await (await revoke(url, await token(elsewhere), { userId: 'alice' })).json()).toEqual({ connections: 0 });
    await first.do('chat:list');
    expect(await (await revoke(url, await token(ADMIN), { jti: 'one' })).json()).toEqual({ connections: 1 });
    await until(() => first.disconnectReason, 'the end of the first');
    await second.do('chat:list');
    expect(await connectError(new Person(url).open({ token: one }))).toMatchObject({ code: 'unauthenticated' });
    expect(await second.refused('auth:refresh', { token: one })).toMatchObject({ code: 'unauthenticated' });
    await second.do('chat:list');
    await new Person(url).open({ token: two });
  });

  test('who is revoked while their token has expired cannot renew it; what waited for them is not sent', async () => {
    const { url, token, clock, alice, hers, chatId, bob, his, agent } = await team();
    const { turn } = await bob.start(chatId, 'go');
    const run = await agent.run(turn.requestId);
    const fresh = await token(ALICE);
    clock.advance(61_000);
    await until(() => alice.goaways.length > 0, 'goaway');
    await run.send('secret');
    await until(() => his.text(turn.requestId) === 'secret', 'the text');
    await revoke(url, await token(ADMIN), { userId: 'alice' });
    void alice.ask('auth:refresh', { token: fresh }).catch(() => undefined);
    await until(() => alice.disconnectReason, 'the end of her connection');
    expect(alice.goaways.map(({ code }) => code)).toEqual(['token_expired', 'revoked']);
    expect(hers.text(turn.requestId)).toBe('');
    expect(await connectError(new Person(url).open({ token: fresh }))).toMatchObject({ code: 'unauthenticated' });
  });
});
