import type { SqlKey } from './sql.js';

/** Bytes of texts that are read at once. A row of more is told, and not read: no command could carry much of it. */
const MAX_LOAD_BYTES = 16 * 1024 * 1024;

/** Where a row stands, and how large it is. */
export interface RowSize {
  readonly id: SqlKey;
  readonly bytes: number;
}

/** Why a row is not read; null where it is. */
export const unreadOf = (bytes: number): string | null =>
  bytes > MAX_LOAD_BYTES ? `its ${bytes} bytes are more than the import reads of a row (${MAX_LOAD_BYTES})` : null;

/** Rows that are read together, in order: memory can hold each load. One that is not read stands alone. */
export function* loadsOf<Row extends RowSize>(rows: readonly Row[]): Generator<Row[]> {
  let load: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (load.length > 0 && bytes + row.bytes > MAX_LOAD_BYTES) {
      yield load;
      [load, bytes] = [[], 0];
    }
    load.push(row);
    bytes += row.bytes;
  }
  if (load.length > 0) yield load;
}
