import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** The rooms that run inside the server, or that the server and the browser share: tests own their time and chance. */
const pure = ['protocol/**/*.{ts,tsx}', 'assistant/**/*.{ts,tsx}', 'server/**/*.{ts,tsx}'];
/** The client keeps its own port: a browser has no server/clock.ts. */
const client = ['client/**/*.{ts,tsx}'];
/** The program's edge: environment, signals, exit code, words on a terminal. */
const edge = ['server/main.ts', 'server/cli.ts', 'server/cli/**/*.ts'];
const clocks = ['server/clock.ts', 'client/clock.ts'];
const idSources = ['server/id-source.ts'];

const timers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'];
const time = 'Time comes in through the clock port (clock.ts), so that a test can own it.';
const chance = 'Ids and chance come in through the id source port (id-source.ts), so that a test can own them.';
const environment = 'Only main.ts, cli.ts and cli/ see the process; everything else gets its settings as arguments.';

const timeGlobals = [...timers, 'performance'].map((name) => ({ name, message: time }));
const chanceProperties = [
  { object: 'Math', property: 'random', message: chance },
  { object: 'crypto', property: 'randomUUID', message: chance },
  { object: 'crypto', property: 'getRandomValues', message: chance },
];
/** `new Date(x)`, `Date.parse(x)`, `x instanceof Date` and the type are pure and stay allowed. */
const timeSyntax = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: time },
  { selector: 'MemberExpression[object.name="Date"][property.name="now"]', message: time },
  { selector: 'CallExpression[callee.name="Date"]', message: time },
];
const timeImports = ['timers', 'timers/promises', 'perf_hooks'].flatMap((name) => [
  { name, message: time },
  { name: `node:${name}`, message: time },
]);
const chanceImports = [
  { name: 'uuid', message: chance },
  ...['crypto', 'node:crypto'].map((name) => ({
    name,
    importNames: ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'webcrypto', 'default'],
    message: chance,
  })),
];
const environmentImports = ['process', 'node:process'].map((name) => ({ name, message: environment }));
const environmentGlobals = [{ name: 'process', message: environment }];

/** One object, because the last configuration of a rule replaces the one before it: nothing is merged. */
const forbid = ({ globals = [], properties = [], syntax = [], imports = [] }) => ({
  'no-restricted-globals': globals.length ? ['error', { globals, checkGlobalObject: true }] : 'off',
  'no-restricted-properties': properties.length ? ['error', ...properties] : 'off',
  'no-restricted-syntax': syntax.length ? ['error', ...syntax] : 'off',
  'no-restricted-imports': imports.length ? ['error', { paths: imports }] : 'off',
});

export default defineConfig(
  globalIgnores([
    'dist/',
    'dist.next/',
    'dist.old/',
    'coverage/',
    'data/',
    'server/adapters/prisma/generated/',
    'test/frameworks/',
  ]),
  {
    files: ['**/*.{js,mjs,cjs}'],
    extends: [tseslint.configs.recommended],
    rules: { eqeqeq: 'error', 'prefer-const': 'error', 'max-lines': ['error', { max: 400 }] },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-console': 'error',
      'no-debugger': 'error',
      'max-lines': ['error', { max: 400 }],
      'max-depth': ['error', 4],
      // A flat switch over a union is one decision, however long the union.
      complexity: ['error', { max: 15, variant: 'modified' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // A port is asynchronous even where an adapter (memory, a fake) has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: pure,
    ignores: [...edge, ...clocks, ...idSources],
    rules: forbid({
      globals: [...timeGlobals, ...environmentGlobals],
      properties: chanceProperties,
      syntax: timeSyntax,
      imports: [...timeImports, ...chanceImports, ...environmentImports],
    }),
  },
  {
    files: ['server/clock.ts'],
    rules: forbid({
      globals: environmentGlobals,
      properties: chanceProperties,
      imports: [...chanceImports, ...environmentImports],
    }),
  },
  {
    // A UUIDv7 holds the time, so the source of ids may read it.
    files: idSources,
    rules: forbid({ globals: environmentGlobals, imports: environmentImports }),
  },
  {
    files: client,
    ignores: clocks,
    rules: forbid({ globals: timeGlobals, syntax: timeSyntax, imports: timeImports }),
  },
  { files: edge, rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.{ts,tsx}'],
    // A test that reads a wrong index fails, which is what a test is for; a fuzz test prints its seed.
    rules: { '@typescript-eslint/no-non-null-assertion': 'off', 'no-console': 'off' },
  },
  { files: ['bench/**/*.ts', 'tools/**/*.ts', 'examples/**/*.ts'], rules: { 'no-console': 'off' } },
);
