import type { Message } from '../../protocol/index.js';
import { roleOf } from '../speaker.js';

/** What a policy has to know of a message, whoever's message it is. */
export interface Reading<M> {
  /** Who speaks; `tool` gives the result of a call, `system` instructs. */
  role(message: M): 'user' | 'assistant' | 'system' | 'tool';
  /** The ids of tool calls that an answer asks for. */
  calls(message: M): readonly string[];
  /** The ids of the calls whose results the message gives. */
  results(message: M): readonly string[];
}

/** Messages of this project: a `tool_call` holds its call and its result, and is neither without the other. */
export const chatReading: Reading<Message> = {
  role(message) {
    const named = roleOf(message);
    return named === 'system' || named === 'tool' ? named : message.role;
  },
  calls: () => [],
  results: () => [],
};

/**
 * What a model can be given of a cut conversation: it begins with a question, after what instructs; a result stands
 * behind its call, and a call has all its results behind it. What has lost its other half is left out.
 *
 * Nothing is added, and what stays keeps its order.
 */
export function whole<M>(messages: readonly M[], reading: Reading<M>): M[] {
  // To leave a message out may take another its half: again, until all that is left fits.
  for (let left = [...messages]; ;) {
    const fitting = fittingOf(left, reading);
    if (fitting.length === left.length) return left;
    left = fitting;
  }
}

function fittingOf<M>(messages: readonly M[], reading: Reading<M>): M[] {
  const question = messages.findIndex((message) => reading.role(message) === 'user');
  const askedAt = new Map<string, number>();
  const givenAt = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    for (const id of reading.calls(message)) if (!askedAt.has(id)) askedAt.set(id, index);
    for (const id of reading.results(message)) givenAt.set(id, index);
  }
  return messages.filter((message, index) => {
    if (reading.role(message) === 'system') return true;
    if (question === -1 || index < question) return false;
    const isAsked = (id: string): boolean => (askedAt.get(id) ?? Infinity) < index;
    const isGiven = (id: string): boolean => (givenAt.get(id) ?? -1) > index;
    return reading.results(message).every(isAsked) && reading.calls(message).every(isGiven);
  });
}
