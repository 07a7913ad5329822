import type { Column, Row, Side, Table, Value } from './side.js';

/** Rows that memory holds at once, and bytes of them: a row of more stands alone. */
const PAGE_ROWS = 500;
const PAGE_BYTES = 8 * 1024 * 1024;

/** A table, and what it consists of on either side. */
export interface Shape {
  readonly table: Table;
  readonly columns: readonly Column[];
}

/** The rows behind `after` in the order of their ids, a page at a time. */
export async function* pagesOf(side: Side, shape: Shape, after = 0, upTo = Infinity): AsyncGenerator<Row[]> {
  let end = await endOfPage(side, shape, after);
  for (let from = after; end !== null && from < upTo; end = await endOfPage(side, shape, from)) {
    yield await read(side, shape, from, Math.min(end, upTo));
    from = end;
  }
}

/** The highest id of a table; 0 where it is empty. */
export async function lastId(side: Side, table: Table): Promise<number> {
  const [row] = await side.select(`SELECT coalesce(max(id), 0) AS last FROM ${table}`, []);
  return Number(row?.['last']);
}

/** The id up to which rows behind `after` are read at once; null where there are none. */
async function endOfPage(side: Side, { table, columns }: Shape, after: number): Promise<number | null> {
  const bytes = columns
    .filter(({ kind }) => kind === 'text' || kind === 'json')
    .map(({ name }) => `coalesce(${side.bytes(name)}, 0)`)
    .join(' + ');
  const weights = await side.select(
    `SELECT id, ${bytes} AS bytes FROM ${table} WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
    [after],
  );
  let end: number | null = null;
  let sum = 0;
  for (const weight of weights) {
    sum += Number(weight['bytes']);
    if (sum > PAGE_BYTES && end !== null) break;
    end = Number(weight['id']);
  }
  return end;
}

async function read(side: Side, { table, columns }: Shape, after: number, end: number): Promise<Row[]> {
  const names = columns.map((column) => side.selected(column)).join(', ');
  const rows = await side.select(`SELECT ${names} FROM ${table} WHERE id > ? AND id <= ? ORDER BY id`, [after, end]);
  return rows.map((raw) => {
    const faults: string[] = [];
    const values = columns.map(({ name, kind }): Value => {
      const value = raw[name] ?? null;
      try {
        return value === null ? null : side.readers[kind](value);
      } catch (error) {
        faults.push(`${name} ${(error as Error).message}`);
        return null;
      }
    });
    return { id: Number(raw['id']), values, fault: faults.length > 0 ? faults.join(', ') : null };
  });
}
