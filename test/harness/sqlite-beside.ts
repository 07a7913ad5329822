import Database from 'better-sqlite3';
import { heldUntilReleased, type Hold } from './hold.js';
import type { Row, StoreBeside } from './store-beside.js';

export class SqliteBeside implements StoreBeside {
  constructor(private readonly path: string) {}

  async rows(sql: string, ...args: readonly unknown[]): Promise<Row[]> {
    const file = new Database(this.path, { readonly: true });
    try {
      const select = file.prepare<unknown[], Row>(sql);
      const json = select.columns().filter(({ type }) => type === 'JSONB');
      return select.all(...args).map((row) => {
        for (const { name } of json) row[name] = JSON.parse((row[name] ?? 'null') as string);
        return row;
      });
    } finally {
      file.close();
    }
  }

  async lock(): Promise<Hold> {
    const file = this.#open();
    file.exec('BEGIN IMMEDIATE');
    return heldUntilReleased(() => void file.close());
  }

  async refuseUpdates(table: string): Promise<Hold> {
    const change = (sql: string): void => {
      const file = this.#open();
      file.exec(sql);
      file.close();
    };
    change(`CREATE TRIGGER refusal BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    return heldUntilReleased(() => change('DROP TRIGGER refusal'));
  }

  #open(): Database.Database {
    return new Database(this.path, { timeout: 5000 });
  }
}
