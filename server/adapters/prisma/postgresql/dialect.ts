import type { Dialect } from '../dialect.js';

const TYPES = { integer: 'integer', time: 'timestamp(3)' } as const;

/** No statement of the store has a `?` that is no parameter. */
const numbered = (sql: string): string => {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
};

export const postgresDialect: Dialect = {
  parameters: numbered,
  typed: (type) => `CAST(? AS ${TYPES[type]})`,
  unindexed: (column) => column,
  contains: (column) => `strpos(${column}, ?) > 0`,
  // As it stands in the table: packed, where it is large. What it would be unpacked is told by unpacking it only.
  octets: (column) => `coalesce(pg_column_size(${column}), 0)`,
  isTrue: (column, key) => `coalesce(${column} ->> '${key}', '') IN ('true', '1')`,
  forUpdate: ' FOR UPDATE',
  lockText: 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))',
};
