import type { Dialect } from '../dialect.js';

export const sqliteDialect: Dialect = {
  parameters: (sql) => sql,
  typed: () => '?',
  // Without statistics the planner takes any index for a selective one, and would read every active chat there is where
  // a handful are asked for.
  unindexed: (column) => `+${column}`,
  contains: (column) => `instr(${column}, ?) > 0`,
  octets: (column) => `coalesce(octet_length(${column}), 0)`,
  isTrue: (column, key) => `coalesce(json_extract(${column}, '$.${key}'), 0) = 1`,
  forUpdate: '',
  lockText: null,
};
