import type { ChatError } from '../protocol/index.js';

/** What was asked of the server for those who watch it. */
export type ReadState<T> =
  /** Not answered yet. */
  | { readonly status: 'loading'; readonly value: null; readonly error: null }
  | { readonly status: 'read'; readonly value: T; readonly error: null }
  /** Refused, with the last answer where there was one. */
  | { readonly status: 'refused'; readonly value: T | null; readonly error: ChatError };

export const LOADING = { status: 'loading', value: null, error: null } as const;
