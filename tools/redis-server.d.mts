export interface Redis {
  readonly url: string;
  /** Starts it, or starts it again with what was saved. Resolves when it takes connections. */
  start(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** It does nothing, and its connections stay, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Ends it, running or not, and deletes its folder; at once, so that a process that exits can do it. */
  remove(): void;
}

/** Whether this machine has the program. */
export function canMakeRedis(): boolean;
/** A Redis that does not run yet. */
export function makeRedis(): Promise<Redis>;
