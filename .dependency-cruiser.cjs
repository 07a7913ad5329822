/**
 * The import arrows of docs/architecture.md, one rule per room. Each rule lists what a room may import; whatever is
 * not listed is forbidden, so that a new folder or a new package is a decision made here and not by accident.
 */

/** Files of server/ that any room of the server may use. */
const foundation = '^server/(clock|id-source|log|metrics|version)\\.ts$';
const npm = '^node_modules/';
/** A built-in module that does nothing but compute: no files, sockets, processes or time. */
const computing = '^(node:)?(assert|async_hooks|buffer|crypto|events|util)$';
const builtin = ['core'];
/** The program's edge: the command line, with a file per command, and what starts it. */
const program = '^server/(main\\.ts|cli\\.ts|cli/)';
const generated = '^server/adapters/prisma/generated/';

/** A rule `from` may import nothing but `allowed` (paths), stated as what dependency-cruiser knows: the forbidden rest. */
const only = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: typeof from === 'string' ? { path: from } : from,
  to: { pathNot: allowed },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that import each other are one file, or hide a third. Types count.',
      severity: 'error',
      from: { pathNot: generated },
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that leads nowhere would slip past every other rule.',
      severity: 'error',
      // The generated client exists only after `npm run generate`.
      from: { pathNot: generated },
      to: { couldNotResolve: true, pathNot: 'prisma/generated/' },
    },
    {
      name: 'no-dev-packages',
      comment: 'What is installed for development only is missing where the server runs.',
      severity: 'error',
      from: { pathNot: [generated, '^client/web/'] },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm-peer'],
        pathNot: '^node_modules/@types/',
      },
    },

    only('protocol', 'The contract is a leaf: zod only.', '^protocol/', ['^protocol/', '^node_modules/zod/']),
    only(
      'assistant',
      'An assistant runs in-process or far away: the protocol, and what talks to models.',
      '^assistant/',
      ['^assistant/', '^protocol/', '^node_modules/(zod|ai|@ai-sdk/[^/]+)/', computing],
    ),
    only('stores', 'A thin room over the table of commands: its own files and the contract.', '^stores/', [
      '^stores/',
      '^protocol/',
      '^node_modules/zod/',
    ]),

    only(
      'client',
      'The client runs in browsers: the contract and its transport, no built-in modules.',
      { path: '^client/', pathNot: '^client/(agent|ai-sdk|react|web)/' },
      ['^client/(?!(agent|ai-sdk|react|web)/)', '^protocol/', '^node_modules/socket\\.io-client/'],
    ),
    only('client-agent', 'An agent is a client that runs assistants.', '^client/agent/', [
      '^client/(?!(react|web)/)',
      '^assistant/',
      '^protocol/',
      '^node_modules/(socket\\.io-client|zod)/',
    ]),
    only(
      'client-ai-sdk',
      'A transport of the AI SDK over the client: of that package, types alone.',
      '^client/ai-sdk/',
      ['^client/(?!(agent|react|web)/)', '^protocol/', '^node_modules/ai/'],
    ),
    only('client-react', 'Hooks over the client.', '^client/react/', [
      '^client/(?!(agent|web)/)',
      '^protocol/',
      '^node_modules/(@types/)?react/',
    ]),
    only('client-web', 'The page is built from the client like any other frontend.', '^client/web/', [
      '^client/(?!agent/)',
      '^protocol/',
      npm,
    ]),

    only('server-foundation', 'Usable anywhere, so it may need nothing but the contract.', foundation, [
      foundation,
      '^protocol/',
      npm,
      computing,
      // The monotonic clock and the timers themselves.
      '^(node:)?(perf_hooks|timers|timers/promises)$',
      // The version stands in package.json.
      '^(node:)?fs$',
    ]),
    only('server-ports', 'A port is a promise in words and types: no technology.', '^server/ports/', [
      '^server/ports/',
      foundation,
      '^protocol/',
    ]),
    only('server-session', 'The domain knows no socket, no SQL and no package.', '^server/session/', [
      '^server/session/',
      '^server/ports/',
      foundation,
      '^assistant/',
      '^protocol/',
      computing,
    ]),
    only('server-cluster', 'Between nodes stand desks and sessions; no technology.', '^server/cluster/', [
      '^server/cluster/',
      '^server/session/',
      '^server/ports/',
      foundation,
      '^protocol/',
    ]),
    {
      name: 'server-wire',
      comment: 'Sockets and HTTP know the session, never an adapter.',
      severity: 'error',
      from: { path: '^server/wire/' },
      to: {
        pathNot: ['^server/wire/', '^server/session/', '^server/ports/', foundation, '^protocol/', npm],
        dependencyTypesNot: builtin,
      },
    },
    {
      name: 'server-wire-no-database',
      comment: 'A database reached from the wire would pass by the one writer of each chat.',
      severity: 'error',
      from: { path: '^server/wire/' },
      to: { path: '^node_modules/(@prisma|better-sqlite3|pg|redis)/' },
    },
    {
      name: 'server-adapters',
      comment: 'An adapter keeps the promise of one port: it never meets the session, the wire or the settings.',
      severity: 'error',
      from: { path: '^server/adapters/' },
      to: {
        pathNot: ['^server/adapters/', '^server/ports/', foundation, '^protocol/', npm],
        dependencyTypesNot: builtin,
      },
    },
    {
      name: 'server-adapters-apart',
      comment:
        'One technology each: a file, and a folder of its name. What two share belongs to a port or the foundation.',
      severity: 'error',
      from: { path: '^server/adapters/([^/]+?)(/|\\.ts$)' },
      to: { path: '^server/adapters/', pathNot: '^server/adapters/$1(/|\\.ts$)' },
    },
    {
      name: 'server-config',
      comment: 'Settings are read at the edge and handed on as arguments.',
      severity: 'error',
      from: { pathNot: ['^server/(app|config)\\.ts$', '^server/app/', program, '^test/'] },
      to: { path: '^server/config\\.ts$' },
    },
    only('server-config-leaf', 'Settings are words and bounds.', '^server/config\\.ts$', [
      foundation,
      '^protocol/',
      '^node_modules/zod/',
      // Which names of networks there are is said by the library that reads them.
      '^node_modules/(@types/)?proxy-addr/',
      '^(node:)?(path|url)$',
    ]),
    {
      name: 'server-edge',
      comment: 'The composition root and the program are imported by nobody inside.',
      severity: 'error',
      from: { path: '^(server|protocol|assistant|client|stores)/', pathNot: program },
      to: { path: ['^server/app\\.ts$', program] },
    },
    {
      name: 'server-main',
      comment:
        'Only app.ts may import everything: the program goes through it, and through the client and the stores like anyone else.',
      severity: 'error',
      from: { path: program },
      to: {
        pathNot: [
          '^server/(app|config)\\.ts$',
          '^server/app/',
          program,
          foundation,
          '^client/',
          '^stores/',
          '^protocol/',
          npm,
        ],
        dependencyTypesNot: builtin,
      },
    },
    {
      name: 'server-rooms',
      comment: 'A file of the server stands in a room this page knows.',
      severity: 'error',
      from: { path: '^server/' },
      to: {
        path: '^server/[^/]+\\.ts$',
        pathNot: [foundation, '^server/(app|config)\\.ts$', '^server/app/', program],
      },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', generated] },
    exclude: { path: ['^dist/', '^coverage/'] },
    tsConfig: { fileName: 'tsconfig.json' },
    // An import of a type is an arrow too.
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'node', 'default'] },
  },
};
