import type { Message } from '../../protocol/index.js';
import { foreignOf, type ForeignMessage } from './foreign.js';
import { rowOf, type SquadRow } from './row.js';

/** What the messages of a session say to this room, each of them taken apart once; both in the order of saving. */
export interface Transcript {
  readonly rows: readonly SquadRow[];
  readonly foreign: readonly ForeignMessage[];
}

export const EMPTY: Transcript = { rows: [], foreign: [] };

/** With the messages behind it. The transcript itself stays as it was. */
export function continued(transcript: Transcript, messages: readonly Message[]): Transcript {
  if (messages.length === 0) return transcript;
  const rows = [...transcript.rows];
  const foreign = [...transcript.foreign];
  for (const message of messages) {
    const row = rowOf(message);
    if (row) rows.push(row);
    else foreign.push(foreignOf(message));
  }
  return { rows, foreign };
}

/** Without what came behind a sequence. */
export function through({ rows, foreign }: Transcript, last: number): Transcript {
  const isWithin = ({ sequence }: { readonly sequence: number }): boolean => sequence <= last;
  return {
    rows: rows.slice(0, rows.findLastIndex(isWithin) + 1),
    foreign: foreign.slice(0, foreign.findLastIndex(isWithin) + 1),
  };
}

/** How many messages it holds. */
export const lengthOf = ({ rows, foreign }: Transcript): number => rows.length + foreign.length;
