import type { Dialect } from './dialect.js';
import type { Sql, SqlValue } from './sql.js';

/** A column with where its value comes from. */
export type Column<Source> = readonly [name: string, value: (source: Source) => SqlValue];

/** A statement that is made for one row at a time. */
export class RowStatement<Source> {
  constructor(
    private readonly text: string | ((dialect: Dialect) => string),
    private readonly columns: readonly Column<Source>[],
  ) {}

  /** @returns how many rows it changed */
  run(sql: Sql, source: Source): Promise<number> {
    return sql.run(
      typeof this.text === 'string' ? this.text : this.text(sql.dialect),
      this.columns.map(([, value]) => value(source)),
    );
  }
}

const insertSql = (table: string, names: readonly string[]): string =>
  `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;

/** Refuses a row whose key was ever used. */
export function insert<Source>(table: string, columns: readonly Column<Source>[]): RowStatement<Source> {
  return new RowStatement(
    insertSql(
      table,
      columns.map(([name]) => name),
    ),
    columns,
  );
}

export interface UpsertOptions {
  /** The unique column. */
  readonly key: string;
  /** Columns in which a stored row has to be equal, or else its key is another's: the statement fails. */
  readonly owner: readonly string[];
  /** Columns that keep the value they were first stored with. */
  readonly keep: readonly string[];
  /** When a stored row is changed at all. */
  readonly when: string;
}

/** Inserts, or changes the row that is there already. */
export function upsert<Source>(
  table: string,
  columns: readonly Column<Source>[],
  { key, owner, keep, when }: UpsertOptions,
): RowStatement<Source> {
  const names = columns.map(([name]) => name);
  const own = owner.map((name) => `${table}.${name} IS NOT DISTINCT FROM excluded.${name}`).join(' AND ');
  const kept = new Set([key, ...owner, ...keep]);
  const changes = names.filter((name) => !kept.has(name)).map((name) => `${name} = excluded.${name}`);
  return new RowStatement(
    `${insertSql(table, names)} ON CONFLICT (${key}) DO UPDATE ` +
      // A null where none may be is how a statement refuses from within.
      `SET ${key} = CASE WHEN ${own} THEN excluded.${key} END, ${changes.join(', ')} WHERE (${when}) OR NOT (${own})`,
    columns,
  );
}
