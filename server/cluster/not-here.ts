import { ChatError } from '../../protocol/index.js';

/** How a node refuses what another has sent to it: the chat is not its own. Nothing was done. */
const NOT_HERE = 'not_here';
export const notHere = (): ChatError =>
  new ChatError('storage_unavailable', 'The chat has moved.', { details: { reason: NOT_HERE }, retryAfterMs: 100 });
export const isNotHere = (error: unknown): boolean =>
  error instanceof ChatError && error.details['reason'] === NOT_HERE;
