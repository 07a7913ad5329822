import { ChatError, type Goaway, type Hello } from '../protocol/index.js';
import { backoffMs, type Backoff } from './backoff.js';

/**
 * The life of a client's connection, as a pure function. Times are the clock's, milliseconds since 1970.
 *
 *     idle ──connect──▶ connecting ──opened──▶ open
 *                        ▲   │ failed           │ lost
 *                   due, │   ▼                  ▼
 *                   wake └─ waiting ◀───────────┘
 *
 * From anywhere `close` leads to `closed`, and so does what no retry can cure: a refusal that is not retryable, a dead
 * token after a fresh one was asked for once, a `goaway` that says not to come back. `connect` leads out of it.
 */
export type ConnectionState =
  | { readonly status: 'idle' }
  | {
      readonly status: 'connecting';
      readonly since: number;
      /** Failures in a row before this attempt. */
      readonly failures: number;
      /** Why a fresh token is being asked for; null where the last one was not refused. */
      readonly refused: ChatError | null;
    }
  | {
      readonly status: 'open';
      readonly since: number;
      readonly failures: number;
      /** What the server said of itself, the caller and its limits; null until an agent's server has spoken. */
      readonly hello: Hello | null;
      /** The server's announcement that it is about to close this connection. */
      readonly goaway: Goaway | null;
    }
  | {
      readonly status: 'waiting';
      /** When the next attempt begins, unless the browser wakes the client earlier. */
      readonly retryAt: number;
      /** Failures in a row, the last one included. */
      readonly failures: number;
      readonly error: ChatError;
    }
  | {
      readonly status: 'closed';
      /** Null where the client itself closed it. */
      readonly error: ChatError | null;
    };

export type ConnectionEvent =
  | { readonly type: 'connect' }
  | { readonly type: 'opened'; readonly hello: Hello | null }
  | { readonly type: 'failed'; readonly error: ChatError }
  | { readonly type: 'lost'; readonly error: ChatError }
  | { readonly type: 'goaway'; readonly goaway: Goaway }
  | { readonly type: 'refreshed' }
  | { readonly type: 'due' }
  | { readonly type: 'wake' }
  | { readonly type: 'close'; readonly error: ChatError | null };

export interface ConnectionPolicy {
  readonly backoff: Backoff;
  /** Whether a fresh token can be had, by a function. */
  readonly canRefresh: boolean;
  readonly now: number;
  /** From 0 up to 1. */
  readonly fraction: number;
}

/** A connection that stood so long proves that the server is well: the next loss counts as the first. */
export const STABLE_MS = 5_000;
/** A browser that wakes does not wait for an attempt that began before it slept. */
const STALE_ATTEMPT_MS = 3_000;

/** The state after an event. An event that means nothing in a state gives that very state back. */
export function nextConnection(
  state: ConnectionState,
  event: ConnectionEvent,
  policy: ConnectionPolicy,
): ConnectionState {
  switch (event.type) {
    case 'connect':
      return state.status === 'idle' || state.status === 'closed' ? connecting(policy.now, 0) : state;
    case 'close':
      return state.status === 'closed' ? state : { status: 'closed', error: event.error };
    case 'opened':
      if (state.status === 'open') return event.hello ? { ...state, hello: event.hello } : state;
      if (state.status !== 'connecting') return state;
      return { status: 'open', since: policy.now, failures: state.failures, hello: event.hello, goaway: null };
    case 'failed':
      return state.status === 'connecting' ? afterFailure(state, event.error, policy) : state;
    case 'lost':
      return state.status === 'open' ? afterLoss(state, event.error, policy) : state;
    case 'goaway':
      return state.status === 'open' ? { ...state, goaway: event.goaway } : state;
    case 'refreshed':
      return state.status === 'open' && state.goaway?.code === 'token_expired' ? { ...state, goaway: null } : state;
    case 'due':
      return state.status === 'waiting' ? connecting(policy.now, state.failures) : state;
    case 'wake':
      return afterWake(state, policy);
  }
}

const connecting = (since: number, failures: number, refused: ChatError | null = null): ConnectionState => ({
  status: 'connecting',
  since,
  failures,
  refused,
});

function waiting(failures: number, error: ChatError, policy: ConnectionPolicy, askedMs = 0): ConnectionState {
  const delay = backoffMs(policy.backoff, failures, policy.fraction, askedMs);
  return { status: 'waiting', retryAt: policy.now + delay, failures: failures + 1, error };
}

const isDeadToken = (error: ChatError): boolean => error.code === 'unauthenticated' || error.code === 'token_expired';

function afterFailure(
  state: ConnectionState & { status: 'connecting' },
  error: ChatError,
  policy: ConnectionPolicy,
): ConnectionState {
  if (isDeadToken(error)) {
    if (policy.canRefresh && state.refused === null) return connecting(policy.now, state.failures, error);
    return { status: 'closed', error };
  }
  if (!error.retryable) return { status: 'closed', error };
  return waiting(state.failures, error, policy, error.retryAfterMs);
}

function afterLoss(
  state: ConnectionState & { status: 'open' },
  error: ChatError,
  policy: ConnectionPolicy,
): ConnectionState {
  const { goaway } = state;
  const curable = goaway?.code === 'token_expired' && policy.canRefresh;
  if (goaway && !goaway.reconnect && !curable) return { status: 'closed', error: goawayError(goaway) };
  const failures = policy.now - state.since >= STABLE_MS ? 0 : state.failures;
  return waiting(failures, goaway ? goawayError(goaway) : error, policy, goaway?.retryAfterMs);
}

/** C58: what the browser slept through is over; the network may be back. */
function afterWake(state: ConnectionState, policy: ConnectionPolicy): ConnectionState {
  if (state.status === 'waiting') return connecting(policy.now, state.failures);
  const isStale = state.status === 'connecting' && policy.now - state.since >= STALE_ATTEMPT_MS;
  return isStale ? connecting(policy.now, state.failures, state.refused) : state;
}

const GOAWAY_ERRORS = {
  shutdown: 'draining',
  token_expired: 'token_expired',
  slow_consumer: 'rate_limited',
  revoked: 'unauthenticated',
  replaced: 'conflict',
  too_many_connections: 'too_many_connections',
} as const;

const GOAWAY_SENTENCES = {
  shutdown: 'The server is shutting down.',
  token_expired: 'The token has expired.',
  slow_consumer: 'This connection did not read what it was sent.',
  revoked: 'The access of this connection was revoked.',
  replaced: 'A newer connection of the same agent has taken over.',
  too_many_connections: 'This user has too many connections.',
} as const;

/** The error that stands for a `goaway`; `details.goaway` names its code. */
function goawayError(goaway: Goaway): ChatError {
  return new ChatError(GOAWAY_ERRORS[goaway.code] ?? 'internal', GOAWAY_SENTENCES[goaway.code], {
    details: { goaway: goaway.code },
    ...(goaway.retryAfterMs === undefined ? {} : { retryAfterMs: goaway.retryAfterMs }),
  });
}
