import { onTestFinished } from 'vitest';

/** What a test has taken or broken for a while. */
export interface Hold {
  /** Gives it back; once, however often it is called. */
  release(): Promise<void>;
}

/** Released at the end of the test at the latest. */
export function heldUntilReleased(undo: () => void | Promise<void>): Hold {
  let undone: Promise<void> | undefined;
  const release = (): Promise<void> => (undone ??= Promise.resolve(undo()));
  onTestFinished(release);
  return { release };
}
