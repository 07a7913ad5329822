import { defineConfig } from 'vitest/config';

/** One project per kind of test, so that `npm test -- --project unit` runs the quick ones alone. */
const project = (name: string, testTimeout: number) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.{ts,tsx}`], testTimeout },
});

/** Files share their worker's process: to load the server again for each of them took as long as to run them. */
const SHARED = { isolate: false } as const;

/** Of the end-to-end suite, in processes of their own: they make a page of theirs (test/harness/page.ts), or must be in none. */
const IN_A_PAGE = ['ag-ui-guide', 'ai-sdk-guide', 'react-*', 'readme', 'remote-agent-guide'];

/** Of the end-to-end suite, where it matters not what database there is: doors and limits before it, clients, programs beside. */
const WITHOUT_DATABASE = [
  'access-timing',
  'ag-ui-guide',
  'ag-ui-streams',
  'agents-hostile',
  'ai-sdk-guide',
  'ai-sdk-refusals',
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
  'pages',
  // These name their own PostgreSQL.
  'nodes',
  'nodes-*',
  'postgresql-*',
  'react-*',
  'readme',
  'remote-agent-guide',
  'settings',
  'slow-consumer',
  'stores-microsoft-net',
  'stores-microsoft-python',
  'tokens-*',
];

/**
 * Of the end-to-end suite, what people and agents see of chats and turns. On nodes each of its connections reaches the next
 * node, and what is asked there is asked of the owner of a chat. What is left out
 * - does not come so far: doors, descriptions, how tokens are read and when they end, callers' limits, the command line, guides;
 * - is the same on any number of nodes, since it knows commands and nothing else: `stores-*`, `memory-policies`,
 *   `chat-assistant`, and all of the client but how it connects again;
 * - ends a process, or counts what one does: `crash`, `drain`, `client-restart`, `assistants-*`, `regressions`. What becomes of
 *   nodes and of those who are at them is in `nodes-*`.
 */
const ON_NODES = [
  'ag-ui-{refusals,runs,threads}',
  'access',
  'access-{agents,live,matrix}',
  'agents',
  'agents-assigned',
  'client-{following,sending}',
  'commands',
  'consistency',
  'delegation',
  'deleting',
  'endings',
  'following',
  'json-and-paths',
  'live',
  'returning',
  'saved',
  'seed-{http,turns}',
  'taken-ids',
  'text',
  'tokens',
  'turns-*',
  'unsharing',
];

/** Among those, files of which a test or two leave nodes out: one server on PostgreSQL runs them whole. */
const IN_PART_ON_NODES = ['connecting', 'limits', 'memory', 'revision'];

const filesOf = (names: readonly string[]): string[] => names.map((name) => `test/e2e/${name}.test.{ts,tsx}`);

const hasPostgres = process.env['TEST_POSTGRES_URL'] !== '';
// An empty address: tools/services.mjs has found none.
const hasNodes = hasPostgres && process.env['TEST_REDIS_URL'] !== '';

const endToEnd = {
  extends: true as const,
  test: { ...project('e2e', 30_000).test, ...SHARED, exclude: filesOf(IN_A_PAGE) },
};

const endToEndInAPage = {
  extends: true as const,
  test: { ...project('e2e', 30_000).test, name: 'e2e-in-a-page', include: filesOf(IN_A_PAGE) },
};

/** `e2e` once more, with PostgreSQL under one server: all that does not run on nodes, which share one. It has no tests of its own. */
const endToEndOnPostgres = {
  extends: true as const,
  test: {
    ...project('e2e', 30_000).test,
    ...SHARED,
    name: 'e2e-postgresql',
    exclude: filesOf([...WITHOUT_DATABASE, ...(hasNodes ? ON_NODES : [])]),
    env: { TEST_STORE: 'postgresql' },
  },
};

/** `e2e` once more, with three nodes behind the address of each server, which share PostgreSQL and Redis (LIF-4). */
const endToEndOnNodes = {
  extends: true as const,
  test: {
    // Three servers start where there was one.
    ...project('e2e', 60_000).test,
    ...SHARED,
    name: 'e2e-nodes',
    include: filesOf([...ON_NODES, ...IN_PART_ON_NODES]),
    env: { TEST_STORE: 'postgresql', TEST_NODES: '3' },
    setupFiles: 'test/harness/request-per-connection.ts',
  },
};

/** After all others, and alone: it takes the whole machine, and says how long things took. */
const underLoad = {
  extends: true as const,
  test: { ...project('load', 600_000).test, sequence: { groupOrder: 1 } },
};

export default defineConfig({
  test: {
    // Processes, not threads: better-sqlite3 is native.
    pool: 'forks',
    // Two: servers under test time their own windows, and more workers than cores make those times lie.
    maxWorkers: 2,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    restoreMocks: true,
    projects: [
      { extends: true, test: { ...project('unit', 30_000).test, ...SHARED } },
      { extends: true, test: { ...project('contract', 30_000).test, ...SHARED } },
      endToEnd,
      endToEndInAPage,
      ...(hasPostgres ? [endToEndOnPostgres] : []),
      ...(hasNodes ? [endToEndOnNodes] : []),
      // stores/ inside the frameworks they are for, which `npm test` installs in a package of their own.
      project('frameworks', 30_000),
      // The pages, in a browser of this machine.
      project('browser', 60_000),
      // A fuzz run is many cases in one test.
      project('fuzz', 120_000),
      underLoad,
    ],
  },
});
