import type { Message } from '../../protocol/index.js';
import { isSaid, wordsOf } from '../shown-text.js';
import type { SquadMessage } from './conversation-message.js';

/** What another framework, an assistant or a person wrote into the session. */
export interface ForeignMessage {
  readonly sequence: number;
  readonly assistantId: string | null;
  readonly requestId: string | null;
  /** Null for what was said to nobody, or is still being written. */
  readonly message: SquadMessage | null;
}

/** A message that this room did not save. */
export function foreignOf(message: Message): ForeignMessage {
  const { sequence, assistantId, requestId, role, state } = message;
  const isHeard = state === 'closed' && isSaid(message);
  return {
    sequence,
    assistantId,
    requestId,
    message: isHeard ? { role, content: [{ text: wordsOf(message) }] } : null,
  };
}

/**
 * Tells what an agent hears of the others: what its assistant said, the questions of the turns it answered, and what is
 * said to nobody in particular.
 */
export function heardBy(
  assistantId: string,
  messages: readonly ForeignMessage[],
): (foreign: ForeignMessage) => boolean {
  const answering = new Map<string, Set<string>>();
  for (const { requestId, assistantId: answers } of messages) {
    if (requestId === null || answers === null) continue;
    answering.set(requestId, (answering.get(requestId) ?? new Set()).add(answers));
  }
  return (foreign) => {
    if (foreign.assistantId !== null) return foreign.assistantId === assistantId;
    return answering.get(foreign.requestId ?? '')?.has(assistantId) ?? true;
  };
}
