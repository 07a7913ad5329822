import { ChatError } from '../../protocol/index.js';

/** How a node refuses what another has sent to it: the chat is not its own. Nothing was done. */
const NOT_HERE = 'not_here';
export const notHere = (): ChatError =>
  new ChatError('storage_unavailable', 'The chat has moved.', { details: { reason: NOT_HERE }, retryAfterMs: 100 });
export const isNotHere = (error: unknown): boolean => reasonOf(error) === NOT_HERE;

/** A node that was asked has died, or was cut off. It may have done what it was asked, or not. */
const UNANSWERED = 'unanswered';
export const unanswered = (): ChatError =>
  new ChatError('storage_unavailable', 'The node of this chat does not answer.', {
    details: { reason: UNANSWERED },
    retryAfterMs: 500,
  });

/** Whether who was asked may not have done it because it has the chat no more (`FencedOut`), or is no more. The store's own refusals are not among them. */
export const isAway = (error: unknown): boolean =>
  (error instanceof ChatError && error.code === 'draining') ||
  ['moved', UNANSWERED, NOT_HERE].includes(String(reasonOf(error)));

const reasonOf = (error: unknown): unknown => (error instanceof ChatError ? error.details['reason'] : undefined);
