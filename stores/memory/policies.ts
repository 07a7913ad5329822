import { chatReading, whole, type Reading } from './dialogue.js';
import type { Message } from '../../protocol/index.js';

/**
 * Chooses what of a conversation a model is given. It changes neither the conversation nor a message of it, and what it
 * gives begins with a question, with no result of a tool without its call and no call without its results.
 */
export type MemoryPolicy<M = Message> = (messages: readonly M[]) => Promise<M[]>;

/** The newest `count` messages; those that instruct do not count where {@link keepingSystem} is around it. */
export const lastMessages = <M = Message>(count: number, reading?: Reading<M>): MemoryPolicy<M> => {
  mustBeCount(count, 'count');
  return async (messages) => whole(newest(messages, count), readingOf(reading));
};

/**
 * The newest messages that hold at most `maxTokens` together. One that is larger by itself ends the choice: what lies
 * behind it would be without what it is about.
 *
 * @param tokensIn tokens of one message, as the model counts them
 */
export const withinTokens = <M = Message>(
  maxTokens: number,
  tokensIn: (message: M) => number | Promise<number>,
  reading?: Reading<M>,
): MemoryPolicy<M> => {
  mustBeCount(maxTokens, 'maxTokens');
  return async (messages) => {
    let left = maxTokens;
    let from = messages.length;
    while (from > 0) {
      left -= await tokensIn(messages[from - 1] as M);
      if (left < 0) break;
      from--;
    }
    return whole(messages.slice(from), readingOf(reading));
  };
};

export interface SummaryOptions<M> {
  /** How many of the newest messages stand as they are. */
  readonly keep: number;
  /** Writes down what was said in these, by a model; what it throws is thrown on, and nothing is lost. */
  readonly summarise: (older: readonly M[]) => Promise<string>;
  /** The summary as a message, which instructs: it stands in front. */
  readonly messageOf: (summary: string) => M;
}

/** A summary of what is older, then the newest messages. Nothing older, nothing summarised. */
export const summarised = <M = Message>(
  { keep, summarise, messageOf }: SummaryOptions<M>,
  reading?: Reading<M>,
): MemoryPolicy<M> => {
  mustBeCount(keep, 'keep');
  const read = readingOf(reading);
  return async (messages) => {
    const kept = whole(newest(messages, keep), read);
    const stays = new Set(kept);
    const older = messages.filter((message) => !stays.has(message));
    return older.length === 0 ? kept : [messageOf(await summarise(older)), ...kept];
  };
};

/** All that instructs, in front, then what the policy chooses of the rest. */
export const keepingSystem = <M = Message>(policy: MemoryPolicy<M>, reading?: Reading<M>): MemoryPolicy<M> => {
  const isSystem = (message: M): boolean => readingOf(reading).role(message) === 'system';
  return async (messages) => [
    ...messages.filter(isSystem),
    ...(await policy(messages.filter((message) => !isSystem(message)))),
  ];
};

/** Those that the selector names, in the order of the conversation. What is not of it cannot be chosen. */
export const selected = <M = Message>(
  select: (messages: readonly M[]) => Iterable<M> | Promise<Iterable<M>>,
  reading?: Reading<M>,
): MemoryPolicy<M> => {
  return async (messages) => {
    const chosen = new Set(await select([...messages]));
    return whole(
      messages.filter((message) => chosen.has(message)),
      readingOf(reading),
    );
  };
};

/** One after the other: each chooses of what the one before has left. */
export const inTurn =
  <M = Message>(...policies: readonly MemoryPolicy<M>[]): MemoryPolicy<M> =>
  async (messages) => {
    let left = [...messages];
    for (const policy of policies) left = await policy(left);
    return left;
  };

/** From the end, 0 would count as the beginning. */
const newest = <M>(messages: readonly M[], count: number): readonly M[] => (count === 0 ? [] : messages.slice(-count));

/** Without a reading the messages are this project's: the type that stands without one says so. */
const readingOf = <M>(reading: Reading<M> | undefined): Reading<M> => reading ?? (chatReading as unknown as Reading<M>);

function mustBeCount(value: number, name: string): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name}: expected a whole number from 0 on`);
}
