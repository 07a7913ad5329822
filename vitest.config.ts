import { defineConfig } from 'vitest/config';

/** One project per kind of test, so that `npm test -- --project unit` runs the quick ones alone. */
const project = (name: string, testTimeout: number) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.{ts,tsx}`], testTimeout },
});

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
      // stores/ inside the frameworks they are for, which `npm test` installs in a package of their own.
      project('frameworks', 30_000),
      // A fuzz run is many cases in one test.
      project('fuzz', 120_000),
    ],
  },
});
