import { wellFormed, type Json, type JsonObject } from '../../../protocol/index.js';
import { unmarked } from './column-text.js';
import { readJson } from './exact-json.js';
import type { SqlRow } from './sql.js';

/** A row whose texts can be told, and what had to change for it. */
export interface OldRow {
  readonly row: SqlRow;
  readonly changes: readonly string[];
}

/** Bytes that were no text are U+FFFD already; here it is said. */
export function told(row: SqlRow): OldRow {
  const mended = Object.entries(row).flatMap(([column, text]) => {
    const rest = text === null ? null : unmarked(text);
    return rest === null ? [] : [[column, rest] as const];
  });
  if (mended.length === 0) return { row, changes: [] };
  const names = mended.map(([column]) => column).join(', ');
  return {
    row: { ...row, ...Object.fromEntries(mended) },
    changes: [`bytes of ${names} that were no UTF-8 became U+FFFD`],
  };
}

/** As SQLite and PostgreSQL write it. */
export const isTrue = (text: string | null | undefined): boolean =>
  text !== null && text !== undefined && ['1', 't', 'true'].includes(text.toLowerCase());

/** Columns that hold JSON. */
const JSON_COLUMNS = new Set(['context', 'mentions', 'files', 'metadata']);

/**
 * The row as it was, for metadata: all columns that hold anything, but those that a message shows. JSON stands as JSON
 * where it loses nothing by it.
 *
 * @param shown columns that are told elsewhere, as they are
 */
export function columnsOf(row: SqlRow, shown: readonly string[]): { columns: JsonObject; changes: readonly string[] } {
  const mended: string[] = [];
  const columns: Record<string, Json> = {};
  for (const [column, text] of Object.entries(row)) {
    if (text === null || shown.includes(column)) continue;
    const read = JSON_COLUMNS.has(column) ? readJson(text) : null;
    if (read?.isExact && !read.isMended) {
      columns[column] = read.value;
      continue;
    }
    columns[column] = wellFormed(text);
    if (columns[column] !== text) mended.push(column);
  }
  return {
    columns,
    changes: mended.length === 0 ? [] : [`characters of ${mended.join(', ')} that no text may hold became U+FFFD`],
  };
}
