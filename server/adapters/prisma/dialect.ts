/** The words of statements in which databases differ. Everything else is said once, as both understand it. */
export interface Dialect {
  /** The statement with its `?` written as this database's parameters. */
  readonly parameters: (sql: string) => string;
  /** A `?` whose type nothing else in the statement tells. */
  readonly typed: (type: 'integer' | 'time') => string;
  /** A column that the planner shall not look up. */
  readonly unindexed: (column: string) => string;
  /** Whether a text column holds the parameter as it stands: no character has a meaning of its own. */
  readonly contains: (column: string) => string;
  /** Bytes of a JSON column as the database keeps it, told without reading it; 0 for none. */
  readonly octets: (column: string) => string;
  /** Whether a JSON column is an object that has true, or 1, under the key. */
  readonly isTrue: (column: string, key: string) => string;
  /** What follows a SELECT by key whose row nobody else may change before this transaction ends. */
  readonly forUpdate: string;
  /** A statement that makes others who say it with the same text wait until this transaction ends; null where writers take turns. */
  readonly lockText: string | null;
}

/**
 * ISO 8601 with milliseconds, as the Prisma client writes it. SQLite keeps it as text that sorts as time does; PostgreSQL's
 * columns are UTC without a zone, and leave the zone of what they are given out.
 */
export const timeIn = (iso: string): string => iso.replace('Z', '+00:00');
