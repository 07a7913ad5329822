import { describe, expect, it } from 'vitest';
import { backoffMs, DEFAULT_BACKOFF } from '../../../client/backoff.js';
import {
  nextConnection,
  STABLE_MS,
  type ConnectionEvent,
  type ConnectionState,
} from '../../../client/connection-state.js';
import { ChatError, ERROR_CODES, GOAWAY_CODES } from '../../../protocol/index.js';

const NOW = 1_000_000;
const policy = { backoff: DEFAULT_BACKOFF, canRefresh: false, now: NOW, fraction: 0.5 };
const next = (state: ConnectionState, event: ConnectionEvent, change: Partial<typeof policy> = {}): ConnectionState =>
  nextConnection(state, event, { ...policy, ...change });

const connecting: ConnectionState = { status: 'connecting', since: NOW, failures: 0, refused: null };
const open: ConnectionState = { status: 'open', since: NOW, failures: 0, hello: null, goaway: null };
const unreachable = new ChatError('internal');

describe('the states of a connection', () => {
  it('CON-1: goes from idle over connecting to open', () => {
    const begun = next({ status: 'idle' }, { type: 'connect' });
    expect(begun).toEqual(connecting);
    expect(next(begun, { type: 'opened', hello: null })).toEqual(open);
  });

  it('waits longer after each failure, up to the limit, anywhere below it', () => {
    const ceilings = [0, 1, 2, 20].map((failures) => backoffMs(DEFAULT_BACKOFF, failures, 0.999_999));
    expect(ceilings).toEqual([250, 425, 722, 10_000]);
    expect(backoffMs(DEFAULT_BACKOFF, 20, 0)).toBe(0);
    expect(backoffMs(DEFAULT_BACKOFF, 0, 0.5, 3_000)).toBe(3_125);
  });

  it('comes back after a loss, and counts failures until a connection has stood for a while', () => {
    const lost = next({ ...open, failures: 3 }, { type: 'lost', error: unreachable }, { now: NOW + 10 });
    expect(lost).toMatchObject({ status: 'waiting', failures: 4 });
    const stable = next({ ...open, failures: 3 }, { type: 'lost', error: unreachable }, { now: NOW + STABLE_MS });
    expect(stable).toMatchObject({ status: 'waiting', failures: 1, retryAt: NOW + STABLE_MS + 125 });
  });

  it('C30: asks for a fresh token once, then closes with the error', () => {
    const dead = new ChatError('unauthenticated');
    const again = next(connecting, { type: 'failed', error: dead }, { canRefresh: true });
    expect(again).toEqual({ ...connecting, refused: dead });
    expect(next(again, { type: 'failed', error: dead }, { canRefresh: true })).toEqual({
      status: 'closed',
      error: dead,
    });
    expect(next(connecting, { type: 'failed', error: dead })).toEqual({ status: 'closed', error: dead });
  });

  it.each(ERROR_CODES.filter((code) => !new ChatError(code).retryable))('CON-1: does not retry after %s', (code) => {
    const after = next(connecting, { type: 'failed', error: new ChatError(code) });
    expect(after).toMatchObject({ status: 'closed', error: { code } });
  });

  it('honours retryAfterMs', () => {
    const error = new ChatError('draining', undefined, { retryAfterMs: 5_000 });
    expect(next(connecting, { type: 'failed', error })).toMatchObject({ status: 'waiting', retryAt: NOW + 5_125 });
  });

  it.each(GOAWAY_CODES)('CON-6: comes back after goaway %s where it may, and closes where it may not', (code) => {
    const told = next(open, { type: 'goaway', goaway: { code, reconnect: true, retryAfterMs: 2_000 } });
    expect(next(told, { type: 'lost', error: unreachable })).toMatchObject({ status: 'waiting', retryAt: NOW + 2_125 });
    const banned = next(open, { type: 'goaway', goaway: { code, reconnect: false } });
    expect(next(banned, { type: 'lost', error: unreachable })).toMatchObject({
      status: 'closed',
      error: { details: { goaway: code } },
    });
  });

  it('CON-5: an expired token is curable where a fresh one can be had', () => {
    const told = next(open, { type: 'goaway', goaway: { code: 'token_expired', reconnect: false } });
    expect(next(told, { type: 'lost', error: unreachable }, { canRefresh: true }).status).toBe('waiting');
    expect(next(told, { type: 'refreshed' })).toEqual(open);
  });

  it('C58: a wake ends the waiting, and an attempt that began before the sleep', () => {
    const waiting: ConnectionState = { status: 'waiting', retryAt: NOW + 9_000, failures: 7, error: unreachable };
    expect(next(waiting, { type: 'wake' })).toEqual({ ...connecting, failures: 7 });
    expect(next(connecting, { type: 'wake' }, { now: NOW + 100 })).toBe(connecting);
    expect(next(connecting, { type: 'wake' }, { now: NOW + 9_000 })).toEqual({ ...connecting, since: NOW + 9_000 });
  });

  it('leaves closed by connect only', () => {
    const closed: ConnectionState = { status: 'closed', error: null };
    const others: ConnectionEvent[] = [
      { type: 'wake' },
      { type: 'due' },
      { type: 'opened', hello: null },
      { type: 'lost', error: unreachable },
      { type: 'failed', error: unreachable },
      { type: 'close', error: unreachable },
    ];
    for (const event of others) expect(next(closed, event)).toBe(closed);
    expect(next(closed, { type: 'connect' })).toEqual(connecting);
  });
});
