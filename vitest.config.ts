import { defineConfig } from 'vitest/config';

/** One project per kind of test, so that `npm test -- --project unit` runs the quick ones alone. */
const project = (name: string, testTimeout: number) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.{ts,tsx}`], testTimeout },
});

/** Of the end-to-end suite, where it matters not what database there is: doors and limits before it, clients, programs beside. */
const WITHOUT_DATABASE = [
  'access-timing',
  'agents-hostile',
  'cli-*',
  'cli',
  'client-agent',
  'client-following',
  'client-tokens',
  'deploy',
  'event-paths',
  'examples',
  'examples-guide',
  'floods',
  'frameworks-guide',
  'hostile-bounds',
  'hostile-input',
  'http-arguments',
  'http-caller',
  'http-events-end',
  'http-limits',
  'http-malformed',
  'http-origins',
  'limits-of-callers',
  'malformed',
  // These name their own PostgreSQL.
  'nodes',
  'nodes-*',
  'postgresql-*',
  'readme',
  'settings',
  'slow-consumer',
  'stores-microsoft-net',
  'stores-microsoft-python',
  'tokens-*',
];

/** `e2e` once more, with PostgreSQL under the servers. It has no tests of its own. */
const endToEndOnPostgres = {
  extends: true as const,
  test: {
    ...project('e2e', 30_000).test,
    name: 'e2e-postgresql',
    exclude: WITHOUT_DATABASE.map((name) => `test/e2e/${name}.test.ts`),
    env: { TEST_STORE: 'postgresql' },
  },
};

export default defineConfig({
  test: {
    // Processes, not threads: better-sqlite3 is native, and a test that leaks a handle must not outlive its file.
    pool: 'forks',
    // Two: servers under test time their own windows, and more workers than cores make those times lie.
    maxWorkers: 2,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    restoreMocks: true,
    projects: [
      project('unit', 30_000),
      project('contract', 30_000),
      project('e2e', 30_000),
      // An empty address: tools/services.mjs has found none.
      ...(process.env['TEST_POSTGRES_URL'] === '' ? [] : [endToEndOnPostgres]),
      // stores/ inside the frameworks they are for, which `npm test` installs in a package of their own.
      project('frameworks', 30_000),
      // A fuzz run is many cases in one test.
      project('fuzz', 120_000),
    ],
  },
});
