import { requestIdOf, type Entry } from './entry.js';
import { searchText } from './event-text.js';

/** Which part of the log is listed. */
export interface LogFilter {
  /** A type of event (`message.appended`) or what it begins with (`message`); empty: all. */
  readonly type: string;
  /** A requestId; empty: all. */
  readonly turn: string;
  /** What stands anywhere in an event, however it is written; empty: all. */
  readonly text: string;
}

export const NO_FILTER: LogFilter = { type: '', turn: '', text: '' };

/** The entries that a filter lets through, the same list where that is all of them. */
export function filtered(entries: readonly Entry[], { type, turn, text }: LogFilter): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  if (type === '' && turn === '' && wanted === '') return entries;
  return entries.filter((entry) => {
    if (entry.kind === 'start') return wanted === '' && turn === '';
    const { event } = entry;
    if (type !== '' && event.type !== type && !event.type.startsWith(`${type}.`)) return false;
    if (turn !== '' && requestIdOf(event) !== turn) return false;
    return wanted === '' || searchText(entry).includes(wanted);
  });
}
