import { describe, expect, test } from 'vitest';
import { systemClock } from '../../server/clock.js';
import { Agent } from '../harness/agent.js';
import { KeyServer, signedBy, signingKey, type SigningKey } from '../harness/key-server.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { askByPath, askByRequest } from './access-asking.js';
import { readEvents } from './sse-reader.js';
import { bearer, connectError } from './token-scene.js';

const BOTH = { userId: 'alice', teamId: 'blue', tenantId: 'acme', roles: ['user', 'agent'] } satisfies As;
const ISSUER = 'https://issuer.example/';
const AUDIENCE = 'turnstream';
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];

/** The wall clock stands, so that the age of a token does not hang on how fast the machine is. */
const NOW_S = Math.floor(Date.now() / 1000);
const clock = { ...systemClock, now: () => NOW_S * 1000 };

const claimsOf = (more: Record<string, unknown> = {}) => ({
  sub: BOTH.userId,
  team_id: BOTH.teamId,
  tenant_id: BOTH.tenantId,
  roles: BOTH.roles,
  iss: ISSUER,
  aud: AUDIENCE,
  iat: NOW_S - 60,
  exp: NOW_S + 3600,
  ...more,
});

/** A server that believes an issuer's keys, for tokens that are meant for it, of a clock that may be 5 s off. */
async function believer() {
  const keys = await Promise.all(ALGORITHMS.map((alg) => signingKey(alg)));
  const issuer = await KeyServer.start(...keys);
  const { url } = await startServer({
    clock,
    env: {
      AUTH_MODE: 'jwt',
      AUTH_JWKS_URL: issuer.url,
      AUTH_JWT_ISSUER: ISSUER,
      AUTH_JWT_AUDIENCE: AUDIENCE,
      AUTH_CLOCK_TOLERANCE_MS: '5000',
    },
  });
  const person = await new Person(url).open({ token: await signedBy(keys[1] as SigningKey, claimsOf()) });
  return { url, issuer, keys, chatId: await person.createChat() };
}

/** Every door lets a token in, knows who it is of, and serves it. */
async function expectOpen(url: string, chatId: string, token: string): Promise<void> {
  const person = await new Person(url).open({ token });
  expect(person.hello?.user).toEqual(BOTH);
  expect(await person.do('chat:get', { chatId })).toMatchObject({ chat: { createdBy: BOTH.userId } });
  person.close();
  const agent = await new Agent(url, ['bot']).open({ token });
  expect(agent.hello?.user).toEqual(BOTH);
  await agent.attach();
  agent.close();
  expect(await askByRequest(url, token, 'chat:get', { chatId })).toMatchObject({ outcome: 'ok' });
  using stream = await readEvents(`${url}/v1/chats/${chatId}/events`, bearer(token));
  await stream.until(({ events }) => events.length > 0);
  expect(stream.events[0]).toMatchObject({ event: 'snapshot', data: { chat: { chatId } } });
}

/** Every door refuses a token. */
async function expectShut(url: string, chatId: string, token: string, code: string): Promise<void> {
  expect.soft(await connectError(new Person(url).open({ token })), 'people').toMatchObject({ code });
  expect.soft(await connectError(new Agent(url, ['bot']).open({ token })), 'agents').toMatchObject({ code });
  expect.soft((await askByRequest(url, token, 'chat:get', { chatId })).outcome, 'a request').toBe(code);
  const events = await askByPath(url, token, '/v1/chats/:chatId/events', { chatId });
  expect.soft(events.outcome, 'an event stream').toBe(code);
}

describe('CON-1: the way in by the keys at AUTH_JWKS_URL', () => {
  test.each(ALGORITHMS)('a token by %s opens every door, and its issuer is asked for its keys once', async (alg) => {
    const { url, issuer, keys, chatId } = await believer();
    await expectOpen(url, chatId, await signedBy(keys.find((key) => key.alg === alg) as SigningKey, claimsOf()));
    expect(issuer.requests).toBe(1);
  });

  test.each(ALGORITHMS)('a token by %s and a key that its issuer never had is unauthenticated', async (alg) => {
    const { url, keys, chatId } = await believer();
    const { kid } = keys.find((key) => key.alg === alg) as SigningKey;
    await expectShut(url, chatId, await signedBy(await signingKey(alg, kid), claimsOf()), 'unauthenticated');
  });

  test.each<[string, Record<string, unknown>]>([
    ['for another audience', { aud: 'elsewhere' }],
    ['for several others', { aud: ['elsewhere', `${AUDIENCE}2`] }],
    ['for nobody', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil.example/' }],
    ['of an issuer of nearly the same name', { iss: ISSUER.slice(0, -1) }],
    ['of no issuer', { iss: undefined }],
  ])('a token %s is unauthenticated', async (_, more) => {
    const { url, keys, chatId } = await believer();
    for (const key of keys) await expectShut(url, chatId, await signedBy(key, claimsOf(more)), 'unauthenticated');
  });

  test('a token for several audiences opens every door, where this server is one of them', async () => {
    const { url, keys, chatId } = await believer();
    const token = await signedBy(keys[0] as SigningKey, claimsOf({ aud: ['elsewhere', AUDIENCE] }));
    await expectOpen(url, chatId, token);
  });

  test('AUTH_CLOCK_TOLERANCE_MS: what ended within it opens every door, and what ended before it none', async () => {
    const { url, keys, chatId } = await believer();
    for (const key of keys) {
      await expectOpen(url, chatId, await signedBy(key, claimsOf({ exp: NOW_S - 2 })));
      await expectShut(url, chatId, await signedBy(key, claimsOf({ exp: NOW_S - 10 })), 'token_expired');
    }
  });

  test('AUTH_CLOCK_TOLERANCE_MS: what begins within it opens every door, and what begins after it none', async () => {
    const { url, keys, chatId } = await believer();
    const [key] = keys as [SigningKey];
    await expectOpen(url, chatId, await signedBy(key, claimsOf({ nbf: NOW_S + 2 })));
    await expectShut(url, chatId, await signedBy(key, claimsOf({ nbf: NOW_S + 10 })), 'unauthenticated');
  });
});
