import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOpenAuthenticator } from '../../server/wire/authenticate.js';
import { createRateLimit } from '../../server/wire/rate-limit.js';

describe('CON-1 with authentication off', () => {
  const authenticator = createOpenAuthenticator();

  test('who says nothing is local, a user and an agent, and no admin', async () => {
    expect(await authenticator.authenticate({ claims: {} })).toEqual({
      userId: 'local',
      teamId: null,
      tenantId: null,
      roles: ['user', 'agent'],
      assistants: null,
      expiresAt: null,
    });
  });

  test('callers are who they say; what else a handshake holds is not looked at', async () => {
    const claims = {
      userId: 'Zoë',
      teamId: 'blue',
      tenantId: null,
      roles: ['admin', 'user', 'admin'],
      token: 7,
      protocol: 1,
    };
    expect(await authenticator.authenticate({ token: 'anything', claims })).toMatchObject({
      userId: 'Zoë',
      teamId: 'blue',
      tenantId: null,
      roles: ['admin', 'user'],
    });
  });

  test.each([
    ['userId', ''],
    ['userId', 'x'.repeat(201)],
    ['userId', 7],
    ['userId', null],
    ['userId', '\ud83c'],
    ['userId', 'a\0b'],
    ['teamId', ['a']],
    ['tenantId', { toString: 'x' }],
    ['roles', 'admin'],
    ['roles', []],
  ])('C26 auth.%s = %j is refused by name', async (claim, value) => {
    await expect(authenticator.authenticate({ claims: { [claim]: value } })).rejects.toMatchObject({
      code: 'bad_request',
      details: { path: `auth.${claim}` },
    });
  });

  test('an unknown role is refused by its place', async () => {
    await expect(authenticator.authenticate({ claims: { roles: ['user', 'root'] } })).rejects.toMatchObject({
      code: 'bad_request',
      details: { path: 'auth.roles.1' },
    });
  });
});

describe('RATE_LIMIT_PER_SECOND', () => {
  // The library reads the clock itself.
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('lets ten times as many through at once, then says when to come back; others do not notice', async () => {
    const limit = createRateLimit({ perSecond: 2 });
    const ann = { tenantId: null, userId: 'ann' };
    for (let i = 0; i < 20; i++) await limit.consume(ann);
    vi.advanceTimersByTime(400);
    await expect(limit.consume(ann)).rejects.toMatchObject({
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: 600,
    });
    await limit.consume({ tenantId: null, userId: 'bob' });
    await limit.consume({ tenantId: 'acme', userId: 'ann' });

    vi.advanceTimersByTime(600);
    await limit.consume(ann);
    await limit.consume(ann);
    await expect(limit.consume(ann)).rejects.toMatchObject({ code: 'rate_limited' });

    vi.advanceTimersByTime(10_000);
    for (let i = 0; i < 20; i++) await limit.consume(ann);
  });

  test('forgets who was quiet for ten seconds', async () => {
    const limit = createRateLimit({ perSecond: 1 });
    for (let i = 0; i < 100; i++) await limit.consume({ tenantId: null, userId: `user-${i}` });
    expect(vi.getTimerCount()).toBe(100);
    vi.advanceTimersByTime(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
