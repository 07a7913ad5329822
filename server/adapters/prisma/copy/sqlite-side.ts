import BetterSqlite3 from 'better-sqlite3';
import { timeIn } from '../dialect.js';
import type { SqlRow, SqlValue } from '../sql.js';
import type { Column, Kind, Readers, Row, Side, Table, Value } from './side.js';

const KINDS: Readonly<Record<string, Kind>> = {
  INTEGER: 'integer',
  BOOLEAN: 'flag',
  TEXT: 'text',
  DATETIME: 'time',
  JSONB: 'json',
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of a text, or what SQLite has made of one that looks like a number. */
function textOf(raw: unknown): string {
  if (!(raw instanceof Uint8Array)) return String(raw);
  try {
    return utf8.decode(raw);
  } catch {
    throw new Error('is no UTF-8');
  }
}

const readers: Readers = {
  integer: Number,
  flag: (raw) => raw === 1,
  text: textOf,
  time: (raw) => {
    const ms = Date.parse(textOf(raw));
    if (Number.isNaN(ms)) throw new Error('is no time');
    return ms;
  },
  json: textOf,
};

/** As the store writes it. */
function written(value: Value | undefined, kind: Kind): SqlValue {
  if (value === null || value === undefined) return null;
  if (kind === 'time') return timeIn(new Date(Number(value)).toISOString());
  return typeof value === 'boolean' ? Number(value) : value;
}

export class SqliteSide implements Side {
  readonly readers = readers;

  private constructor(private readonly file: BetterSqlite3.Database) {}

  /** @throws {Error} no such file, one that is no database, or one that somebody has open */
  static open(path: string, { isReadOnly }: { readonly isReadOnly: boolean }): SqliteSide {
    const file = new BetterSqlite3(path, { fileMustExist: true, timeout: 0 });
    try {
      // Who has a WAL database open shares a lock on it for as long, so that nobody else can have this one.
      file.pragma('locking_mode = EXCLUSIVE');
      if (isReadOnly) file.pragma('query_only = ON');
      file.pragma('schema_version');
      return new SqliteSide(file);
    } catch (error) {
      file.close();
      if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY'))
        throw new Error('another program uses it');
      throw error;
    }
  }

  async select(sql: string, args: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.file.prepare<SqlValue[], SqlRow>(sql).all(...args);
  }

  async columns(table: Table): Promise<Column[]> {
    const rows = this.file.prepare('SELECT name, type FROM pragma_table_info(?) ORDER BY name').all(table);
    return (rows as { name: string; type: string }[]).map(({ name, type }) => ({ name, kind: KINDS[type] ?? 'text' }));
  }

  /** The driver replaces what is no UTF-8 in silence; from the bytes it can be told. */
  selected({ name, kind }: Column): string {
    if (kind === 'integer' || kind === 'flag') return name;
    return `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END AS ${name}`;
  }

  bytes(column: string): string {
    return `octet_length(${column})`;
  }

  async add(table: Table, columns: readonly Column[], rows: readonly Row[]): Promise<number> {
    const names = columns.map(({ name }) => name);
    const insert = this.file.prepare<SqlValue[]>(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
    );
    const all = this.file.transaction(() =>
      rows.reduce(
        (sum, { values }) =>
          sum + insert.run(...columns.map(({ kind }, index) => written(values[index], kind))).changes,
        0,
      ),
    );
    return all.immediate();
  }

  objection(error: unknown): string | null {
    const isOfARow = error instanceof BetterSqlite3.SqliteError && /^SQLITE_(CONSTRAINT|TOOBIG)/.test(error.code);
    return isOfARow ? error.message : null;
  }

  /** SQLite counts on from the highest id that a table ever had. */
  async countOn(): Promise<void> {}

  async close(): Promise<void> {
    this.file.close();
  }
}
