import type { BeeMessage } from './framework.js';
import type { Window } from './mirror.js';
import type { Row } from './row.js';

export type Rows<M extends BeeMessage> = readonly Row<M>[];

/** What a kind of memory lets in and what it lets go for it. A rule only plans: the rows that it is given stay as they are. */
export interface Rule<M extends BeeMessage> {
  /**
   * The rows with one more.
   *
   * @throws {MemoryFatalError} where it does not fit
   */
  admit(row: Row<M>, index: number | undefined, rows: Rows<M>): Rows<M> | Promise<Rows<M>>;
  /** What the memory shows of the rows that were read. @param shown what it showed before */
  window(rows: Rows<M>, shown: Rows<M>): Window<M> | Promise<Window<M>>;
}

/** The rows with one more at the index, which counts from the front and is brought into range; without one at the end. */
export function inserted<M extends BeeMessage>(rows: Rows<M>, row: Row<M>, index: number | undefined): Rows<M> {
  const at = Math.min(Math.max(Math.trunc(index ?? rows.length) || 0, 0), rows.length);
  return rows.toSpliced(at, 0, row);
}

/** The rows without the first one of this message. */
export function without<M extends BeeMessage>(rows: Rows<M>, message: M): Rows<M> {
  const index = rows.findIndex((row) => row.message === message);
  return index === -1 ? rows : rows.toSpliced(index, 1);
}

/** What of the rows is shown when `kept` is. */
export function windowOf<M extends BeeMessage>(rows: Rows<M>, kept: Rows<M>): Window<M> {
  const shown = new Set(kept);
  return { rows: kept, behind: rows.filter((row) => !shown.has(row)) };
}
