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
      token: null,
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

const WIDE = { commandsPerSecond: 1_000, bytesPerSecond: 1_000_000, attemptsPerSecond: 1_000 };

describe('RATE_LIMIT_PER_SECOND', () => {
  // The library reads the clock itself.
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('lets ten times as many through at once, then says when to come back; others do not notice', async () => {
    const limit = createRateLimit({ ...WIDE, commandsPerSecond: 2 });
    const ann = { tenantId: null, userId: 'ann' };
    for (let i = 0; i < 20; i++) await limit.command(ann);
    vi.advanceTimersByTime(400);
    await expect(limit.command(ann)).rejects.toMatchObject({
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: 600,
    });
    await limit.command({ tenantId: null, userId: 'bob' });
    await limit.command({ tenantId: 'acme', userId: 'ann' });

    vi.advanceTimersByTime(600);
    await limit.command(ann);
    await limit.command(ann);
    await expect(limit.command(ann)).rejects.toMatchObject({ code: 'rate_limited' });

    vi.advanceTimersByTime(10_000);
    for (let i = 0; i < 20; i++) await limit.command(ann);
  });

  test('forgets who was quiet for ten seconds', async () => {
    const limit = createRateLimit({ ...WIDE, commandsPerSecond: 1 });
    for (let i = 0; i < 100; i++) await limit.command({ tenantId: null, userId: `user-${i}` });
    expect(vi.getTimerCount()).toBe(100);
    vi.advanceTimersByTime(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('bytes are counted apart from commands, a large frame as what it is', async () => {
    const limit = createRateLimit({ ...WIDE, bytesPerSecond: 100 });
    const ann = { tenantId: null, userId: 'ann' };
    await limit.bytes(ann, 100);
    await limit.bytes(ann, 900);
    await expect(limit.bytes(ann, 1)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: expect.any(Number) as number,
      details: { limit: 'rateLimitBytesPerSecond', max: 100 },
    });
    await limit.command(ann);
    await limit.bytes({ tenantId: null, userId: 'bob' }, 500);
  });

  test('an address pays for attempts that fail, and for none that succeed', async () => {
    const limit = createRateLimit({ ...WIDE, attemptsPerSecond: 1 });
    for (let i = 0; i < 50; i++) await limit.mustHaveTries('192.0.2.1');
    for (let i = 0; i < 10; i++) limit.failed('192.0.2.1');
    await expect(limit.mustHaveTries('192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 10_000,
      details: { limit: 'rateLimitPerAddress', max: 1 },
    });
    await limit.mustHaveTries('192.0.2.2');
    vi.advanceTimersByTime(10_000);
    await limit.mustHaveTries('192.0.2.1');
  });
});
