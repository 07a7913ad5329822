import { isJsonObject, type Json, type Message } from '../../protocol/index.js';
import { partText } from './content.js';
import type { SquadMessage } from './conversation-message.js';
import { rowOf } from './row.js';

/** A message that another framework, an assistant or a person wrote into the session. */
export interface ForeignMessage {
  readonly sequence: number;
  readonly assistantId: string | null;
  readonly requestId: string | null;
  readonly message: SquadMessage;
}

/** Those of them that say something in words and are not still being written. */
export function foreignOf(messages: readonly Message[]): ForeignMessage[] {
  return messages.flatMap((message) => {
    if (message.state === 'open' || rowOf(message)) return [];
    const content = wordsOf(message);
    if (content.length === 0) return [];
    const { sequence, assistantId, requestId, role } = message;
    return [{ sequence, assistantId, requestId, message: { role, content } }];
  });
}

/**
 * Tells what an agent hears of the others: what its assistant said, the questions of the turns it answered, and what is
 * said to nobody in particular.
 */
export function heardBy(assistantId: string, messages: readonly Message[]): (foreign: ForeignMessage) => boolean {
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

/** Types whose `content` is what was said to the other; thoughts, calls of tools and pictures are not. */
const SPOKEN = new Set(['text', 'user_input']);

function wordsOf({ type, props }: Message): { text: string }[] {
  if (!SPOKEN.has(type)) return [];
  const content: Json | undefined = props['content'];
  if (typeof content === 'string') return [{ text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: Json) => {
    const text = isJsonObject(part) ? partText(part) : undefined;
    return text === undefined ? [] : [{ text }];
  });
}
