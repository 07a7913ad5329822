import { isDeepStrictEqual } from 'node:util';
import { type Shape, pagesOf } from './pages.js';
import type { Column, Row, Side, Value } from './side.js';

/** The rows of one id: at least one of the two is there. */
export interface Pair {
  readonly id: number;
  readonly source: Row | null;
  readonly target: Row | null;
}

/** All rows of a table on both sides up to an id, in the order of their ids. */
export async function* pairsOf(source: Side, target: Side, shape: Shape, upTo = Infinity): AsyncGenerator<Pair> {
  const sources = rowsOf(source, shape, upTo);
  const targets = rowsOf(target, shape, upTo);
  let [left, right] = [await next(sources), await next(targets)];
  while (left !== null || right !== null) {
    const id = Math.min(left?.id ?? Infinity, right?.id ?? Infinity);
    const [ofSource, ofTarget] = [left?.id === id ? left : null, right?.id === id ? right : null];
    yield { id, source: ofSource, target: ofTarget };
    if (ofSource) left = await next(sources);
    if (ofTarget) right = await next(targets);
  }
}

/** What is wrong with a pair, in words that follow the row's name; null where both are there and say the same. */
export function differenceOf({ source, target }: Pair, { columns }: Shape): string | null {
  if (target === null) return 'is missing';
  if (source === null) return 'is not in the database copied from';
  if (source.fault ?? target.fault) return source.fault ?? target.fault;
  const others = columns.filter((column, index) => !isSame(column, source.values[index], target.values[index]));
  return others.length === 0 ? null : `differs in ${others.map(({ name }) => name).join(', ')}`;
}

/** JSON by what it says: PostgreSQL keeps the keys of an object in an order of its own. */
function isSame({ kind }: Column, one: Value | undefined, other: Value | undefined): boolean {
  if (one === other) return true;
  if (kind !== 'json' || typeof one !== 'string' || typeof other !== 'string') return false;
  return isDeepStrictEqual(parsed(one), parsed(other));
}

/** What is no JSON is only like itself. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

async function* rowsOf(side: Side, shape: Shape, upTo: number): AsyncGenerator<Row> {
  for await (const page of pagesOf(side, shape, 0, upTo)) yield* page;
}

async function next(rows: AsyncGenerator<Row>): Promise<Row | null> {
  const result = await rows.next();
  return result.done ? null : result.value;
}
