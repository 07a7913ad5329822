import type { Message } from '../../protocol/index.js';
import { roleOf } from '../speaker.js';
import { Calls } from './calls.js';

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
  const calls = new Calls();
  for (const [index, message] of messages.entries()) calls.add(index, reading.calls(message), reading.results(message));
  const leftOut = new Set<number>();
  const isLeftOut = (index: number): boolean => leftOut.has(index);
  // To leave a message out may take another its half: the calls of each are looked at again.
  const due: number[] = [];
  const leaveOut = (index: number): void => {
    if (isLeftOut(index) || reading.role(messages[index] as M) === 'system') return;
    leftOut.add(index);
    due.push(index);
  };
  let start = 0;
  const beginWithQuestion = (): void => {
    const isQuestion = (index: number): boolean => !isLeftOut(index) && reading.role(messages[index] as M) === 'user';
    while (start < messages.length && !isQuestion(start)) leaveOut(start++);
  };
  beginWithQuestion();
  for (const half of calls.halves(isLeftOut)) leaveOut(half);
  for (let index = due.pop(); index !== undefined; index = due.pop()) {
    const message = messages[index] as M;
    for (const half of calls.halves(isLeftOut, [...reading.calls(message), ...reading.results(message)]))
      leaveOut(half);
    beginWithQuestion();
  }
  return messages.filter((_message, index) => !isLeftOut(index));
}
