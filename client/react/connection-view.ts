import type { ChatError, ConnectionState, User } from '../index.js';

/** The connection, as a page shows it. Times are milliseconds since 1970. */
export type ConnectionView =
  /** Nobody has asked for a connection: also on a server. */
  | { readonly status: 'idle'; readonly isUpToDate: false }
  /** For the first time, or once more by `connect`. */
  | { readonly status: 'connecting'; readonly isUpToDate: false }
  | {
      readonly status: 'open';
      /** Whether every chat in use shows what is so at this moment; false while one of them is catching up. */
      readonly isUpToDate: boolean;
      /** Who the server takes the caller for. */
      readonly user: User | null;
    }
  /** It was lost, or could not be had. */
  | {
      readonly status: 'reconnecting';
      readonly isUpToDate: false;
      /** When the next attempt begins; null while one is under way. */
      readonly retryAt: number | null;
      /** Failures in a row. */
      readonly failures: number;
      /** Why the last attempt failed; null while the next one is under way. */
      readonly error: ChatError | null;
    }
  /** For good, until `connect` is called; `error` is null where the client itself was closed. */
  | { readonly status: 'closed'; readonly isUpToDate: false; readonly error: ChatError | null };

export function connectionView(state: ConnectionState, isUpToDate: boolean): ConnectionView {
  switch (state.status) {
    case 'idle':
      return { status: 'idle', isUpToDate: false };
    case 'connecting': {
      const { failures } = state;
      if (failures === 0) return { status: 'connecting', isUpToDate: false };
      return { status: 'reconnecting', isUpToDate: false, retryAt: null, failures, error: null };
    }
    case 'open':
      return { status: 'open', isUpToDate, user: state.hello?.user ?? null };
    case 'waiting': {
      const { retryAt, failures, error } = state;
      return { status: 'reconnecting', isUpToDate: false, retryAt, failures, error };
    }
    case 'closed':
      return { status: 'closed', isUpToDate: false, error: state.error };
  }
}
