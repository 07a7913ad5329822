import { ChatError } from '../../protocol/index.js';
import { MOVED } from '../ports/fence.js';

/** How a node refuses what another has sent to it: the chat is not its own. Nothing was done. */
const NOT_HERE = 'not_here';
export const notHere = (): ChatError =>
  new ChatError('storage_unavailable', 'The chat has moved.', { details: { reason: NOT_HERE }, retryAfterMs: 100 });

/** What was sent to another node was lost on its way. Nothing was done. */
const UNHEARD = 'unheard';
export const unheard = (): ChatError => silent(UNHEARD);

/** A node that was asked has died, or was cut off. It may have done what it was asked, or not. */
const UNANSWERED = 'unanswered';
export const unanswered = (): ChatError => silent(UNANSWERED);

/** Whether it is known that nothing was done. */
export const isUndone = (error: unknown): boolean => [NOT_HERE, UNHEARD].includes(String(reasonOf(error)));

/** Whether who was asked may not have done it because it has the chat no more (`FencedOut`), or is no more. The store's own refusals are not among them. */
export const isAway = (error: unknown): boolean =>
  (error instanceof ChatError && error.code === 'draining') ||
  [MOVED, UNANSWERED].includes(String(reasonOf(error))) ||
  isUndone(error);

const silent = (reason: string): ChatError =>
  new ChatError('storage_unavailable', 'The node of this chat does not answer.', {
    details: { reason },
    retryAfterMs: 500,
  });

const reasonOf = (error: unknown): unknown => (error instanceof ChatError ? error.details['reason'] : undefined);
