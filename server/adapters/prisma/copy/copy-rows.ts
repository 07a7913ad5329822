import { differenceOf, pairsOf } from './compare.js';
import { type Shape, lastId, pagesOf } from './pages.js';
import { type Row, type Side, type Table, TABLES } from './side.js';

/** What became of a table. */
export interface TableCopy {
  readonly table: Table;
  /** Rows that were compared and are the same on both sides. */
  readonly same: number;
  /** Those among them, or refused since, that were added now. */
  readonly added: number;
  /** Rows that are not the same, and the first of them in words. */
  readonly different: number;
  readonly differences: readonly string[];
}

/** Rows that are named. */
const MAX_NAMED = 20;

/**
 * Copies every row of every table with its id, the deleted ones too, and then compares both sides row by row. It can be
 * killed at any time: the next call goes on where this one stopped. Yields each table when it has been compared.
 *
 * @throws {Error} `to` holds rows that are not those of `from`; nothing was changed then
 */
export async function* copyRows(from: Side, to: Side): AsyncGenerator<TableCopy> {
  const begun: { shape: Shape; after: number }[] = [];
  for (const table of TABLES) {
    const shape = await shapeOf(from, to, table);
    begun.push({ shape, after: await copiedSoFar(from, to, shape) });
  }
  for (const { shape, after } of begun) {
    const { added, refused } = await fill(from, to, shape, after);
    await to.countOn(shape.table);
    yield { ...(await compared(from, to, shape, refused)), added };
  }
}

/** @throws {Error} the two have not the same columns */
async function shapeOf(from: Side, to: Side, table: Table): Promise<Shape> {
  const columns = await to.columns(table);
  const [here, there] = [await from.columns(table), columns].map((list) =>
    list.map(({ name, kind }) => `${name} ${kind}`).join(', '),
  );
  if (here !== there) throw new Error(`${table} has other columns on the other side: ${here}; ${there}`);
  return { table, columns };
}

/**
 * Looks whether all that is there is the same.
 * @returns the id up to which nothing is missing
 * @throws {Error} something else is there
 */
async function copiedSoFar(from: Side, to: Side, shape: Shape): Promise<number> {
  const last = await lastId(to, shape.table);
  let after: number | null = null;
  for await (const pair of pairsOf(from, to, shape, last)) {
    const difference = differenceOf(pair, shape);
    if (pair.target === null) after ??= pair.id - 1;
    else if (difference !== null)
      throw new Error(
        `the database to copy to holds other rows, nothing was changed: ${shape.table} ${pair.id} ${difference}; copy into a new one`,
      );
  }
  return after ?? last;
}

interface Filled {
  readonly added: number;
  /** What the target has against a row, by id. */
  readonly refused: ReadonlyMap<number, string>;
}

async function fill(from: Side, to: Side, shape: Shape, after: number): Promise<Filled> {
  const refused = new Map<number, string>();
  let added = 0;
  /** A page that is refused is added row by row. */
  const add = async (rows: readonly Row[]): Promise<void> => {
    try {
      added += await to.add(shape.table, shape.columns, rows);
    } catch (error) {
      const objection = to.objection(error);
      if (objection === null) throw error;
      if (rows.length === 1) for (const { id } of rows) refused.set(id, objection);
      else for (const row of rows) await add([row]);
    }
  };
  for await (const page of pagesOf(from, shape, after)) {
    for (const { id, fault } of page) if (fault !== null) refused.set(id, fault);
    const sound = page.filter(({ fault }) => fault === null);
    if (sound.length > 0) await add(sound);
  }
  return { added, refused };
}

async function compared(from: Side, to: Side, shape: Shape, refused: Filled['refused']) {
  const differences: string[] = [];
  let same = 0;
  let different = 0;
  for await (const pair of pairsOf(from, to, shape)) {
    const difference = differenceOf(pair, shape);
    if (difference === null) same++;
    else if (++different <= MAX_NAMED) {
      const reason = refused.get(pair.id);
      differences.push(`${shape.table} ${pair.id} ${difference}${reason === undefined ? '' : `: ${reason}`}`);
    }
  }
  return { table: shape.table, same, different, differences };
}
