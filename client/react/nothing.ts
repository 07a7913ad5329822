import type { ChatSnapshot, ConnectionState } from '../index.js';

/** What a chat looks like before anything of it was fetched: on a server, and while its page is hydrated. */
export const NO_CHAT: ChatSnapshot = {
  status: 'loading',
  reason: null,
  error: null,
  chat: null,
  messages: [],
  hasMore: false,
  turns: new Map(),
  steps: new Map(),
  presence: [],
  position: null,
  pending: [],
  running: null,
  isBusy: false,
};

export const NO_IDS: readonly string[] = [];

export const NO_CONNECTION: ConnectionState = { status: 'idle' };
