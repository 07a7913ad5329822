import { note } from './terminal.js';

/** npm passes a terminal's Ctrl-C on that the terminal has already delivered: the same signal again this soon is no second one. */
const ECHO_MS = 300;

/** Calls `first` when the process is told to stop, and `again` at each later time. */
export function onTold(signals: readonly NodeJS.Signals[], first: () => void, again: () => void): void {
  let toldAt: number | null = null;
  const told = (): void => {
    const now = performance.now();
    if (toldAt === null) {
      toldAt = now;
      first();
    } else if (now - toldAt > ECHO_MS) again();
  };
  for (const signal of signals) process.on(signal, told);
}

/** What a shell gives for a program that Ctrl-C has ended. */
const ENDED_BY_INTERRUPT = 130;

/** Ends the process when it is told to, wherever it is: for a command that goes on there when it is run again. */
export function endWhenTold(): void {
  const stopped = (): void => {
    note('stopped before the end; the same command goes on');
    process.exit(ENDED_BY_INTERRUPT);
  };
  onTold(['SIGINT', 'SIGTERM'], stopped, stopped);
}
