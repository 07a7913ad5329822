import { expect, onTestFinished, test } from 'vitest';
import { TABLES } from '../../server/adapters/prisma/copy/side.js';
import { migrate } from '../../server/adapters/prisma/migrate.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { SqliteBeside } from '../harness/sqlite-beside.js';
import { sqliteFile } from './sqlite-file.js';

test('a copy takes every table that the migrations make, but that of who holds a chat', async () => {
  const { url, path, remove } = await sqliteFile();
  onTestFinished(remove);
  await migrate({ url, clock: systemClock, ids: systemIds });
  const tables = await new SqliteBeside(path).rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '_prisma_migrations'",
  );
  expect(tables.map(({ name }) => name).sort()).toEqual([...TABLES, 'agent_lease'].sort());
});
