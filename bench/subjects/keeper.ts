/** A conversation that a contender keeps. Whoever runs it measures; each answer says how much was read, so that it can be checked. */
export interface Kept {
  /** One more question and its answer, stored as far as this contender stores anything. */
  readonly turn?: () => Promise<unknown>;
  /** The newest 50, where the contender's interface can ask for them. @returns how many came */
  readonly newest?: () => Promise<number>;
  /** All messages. @returns how many came */
  readonly whole?: () => Promise<number>;
  /** All messages, by a program that has just started. @returns how many came */
  readonly reopened?: () => Promise<number>;
}

/** Begins a conversation that has so many messages already; an even number. */
export type Keeper = (messages: number) => Promise<Kept>;

export const NEWEST = 50;
export const QUESTION = 'What does a day of all work and no play make?';
