import { afterAll, beforeAll, describe } from 'vitest';
import { openSqliteStore, type SqliteStore } from './sqlite-file.js';
import { seedContract } from './store/seed.js';

describe('store contract: Prisma on SQLite', () => {
  let opened: SqliteStore | undefined;
  beforeAll(async () => {
    opened = await openSqliteStore();
  });
  afterAll(() => opened?.close());
  seedContract(() => {
    if (!opened) throw new Error('the store is not open');
    return opened;
  });
});
