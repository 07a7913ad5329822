import type { Table } from './report.js';

/** How much is measured: the whole run takes minutes, the quick one only shows that everything works. */
export interface Scale {
  readonly isQuick: boolean;
  /** Interleaved repetitions of each variant. */
  readonly repetitions: number;
  /** Length of one repetition of a stream. */
  readonly streamMs: number;
  /** How long a repetition waits for a quiet machine. */
  readonly settleMs: number;
}

export const FULL: Scale = { isQuick: false, repetitions: 3, streamMs: 1000, settleMs: 1500 };
export const QUICK: Scale = { isQuick: true, repetitions: 1, streamMs: 250, settleMs: 0 };

export interface Measure {
  /** What `npm run bench <name>` picks it by. */
  readonly name: string;
  readonly title: string;
  /** Gives each table when it is measured. */
  run(scale: Scale): AsyncIterable<Table>;
}
