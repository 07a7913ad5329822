#!/usr/bin/env node
// Stands in for Prisma's native schema engine: the same engine compiled to WebAssembly, an ordinary npm package, behind
// the command line and the JSON-RPC (one message per line on stdin and stdout) that the Prisma CLI speaks.
//
// The WebAssembly build reaches a database through a driver adapter and lacks a few methods of the native one; those
// are composed here from what it has. Started by the CLI, through PRISMA_SCHEMA_ENGINE_BINARY (tools/prisma.mjs).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { administer, adapterFactory, isPostgres } from './schema-engine-databases.mjs';

const { values: options, positionals } = parseArgs({
  // The CLI passes flags of the native engine that mean nothing here.
  strict: false,
  allowPositionals: true,
  options: {
    datamodels: { type: 'string', multiple: true },
    datasource: { type: 'string' },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
    version: { type: 'boolean' },
  },
});
const url = options.datasource ? (JSON.parse(options.datasource).url ?? '') : '';

async function loadEngine() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const code = readFileSync(script.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(code, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings;
}

/** `schema-engine cli <command>`: is there a database, make one, drop it. Errors go to stderr as one line of JSON. */
async function runCommand(command) {
  try {
    await administer(command, url);
    return 0;
  } catch (error) {
    const fields = { message: error.message, error_code: error.code ?? 'P1001', is_panic: false };
    const entry = { timestamp: new Date().toISOString(), level: 'ERROR', fields, target: 'schema_engine::logger' };
    process.stderr.write(`\n${JSON.stringify(entry)}\n`);
    return 1;
  }
}

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

/** The engines of this process, one per provider: a diff may name a schema of the other database than the url. */
const engines = new Map();

async function engineFor(bindings, params) {
  const files =
    (params?.schema?.files ?? params?.to?.files ?? params?.from?.files)?.map((file) => [file.path, file.content]) ??
    (options.datamodels ?? []).map((path) => [path, readFileSync(path, 'utf8')]);
  const text = files.map(([, content]) => content).join('\n');
  const named = /datasource\s+\w+\s*\{[^}]*provider\s*=\s*"(\w+)"/.exec(text)?.[1];
  const provider = (named ?? (isPostgres(url) ? 'postgresql' : 'sqlite')).replace(/^postgres$/, 'postgresql');
  const existing = engines.get(provider);
  if (existing) return existing;
  const adapters = await adapterFactory(provider, url);
  const factory = bindMigrationAwareSqlAdapterFactory(adapters);
  const engine = await bindings.SchemaEngine.new({ datamodels: files }, () => {}, factory);
  const opened = { provider, factory, engine, reset: adapters.reset };
  engines.set(provider, opened);
  return opened;
}

/** What the migrations lack, as SQL, to reach the schema. Exit code 2 stands for "there is something". */
function pendingChange(engine, { migrationsList, schema, filters }) {
  const from = migrationsList.migrationDirectories.length ? { tag: 'migrations', ...migrationsList } : { tag: 'empty' };
  const to = { tag: 'schemaDatamodel', ...schema };
  return engine.diff({ from, to, script: true, exitCode: true, shadowDatabaseUrl: null, filters });
}

const methods = {
  async diff({ engine }, params) {
    const result = await engine.diff({ shadowDatabaseUrl: null, ...params });
    // The native engine prints by a call of its own to the CLI.
    if (result.stdout) send({ id: 1, method: 'print', params: { content: result.stdout } });
    return result;
  },

  async createMigration({ engine, provider }, params) {
    const change = await pendingChange(engine, params);
    const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
    return {
      connectorType: provider,
      generatedMigrationName: `${stamp}_${params.migrationName.replace(/\W+/g, '_').toLowerCase()}`,
      extension: 'sql',
      migrationScript: change.exitCode === 2 || params.draft ? change.stdout : null,
    };
  },

  /** The engine writes what may lose data as a list at the head of the script. */
  async evaluateDataLoss({ engine }, params) {
    const change = await pendingChange(engine, params);
    const warnings = [...(change.stdout ?? '').matchAll(/^\s+- (.*)$/gm)];
    return {
      migrationSteps: change.exitCode === 2 ? 1 : 0,
      warnings: warnings.map(([, message]) => ({ message, stepIndex: 0 })),
      unexecutableSteps: [],
    };
  },

  reset: ({ engine, reset }, params) => (reset ? reset() : engine.reset(params)),

  getDatabaseVersion: ({ engine }, params) => engine.version(params),
};

/**
 * Through a driver adapter the engine does not know SQLite's "no such table" for a database that no migration has
 * touched. Returns what the native engine answers there, or undefined for any other error.
 */
function answerForUntouchedDatabase(method, params, error) {
  if (error?.code !== 'P1014' || !/_prisma_migrations/.test(error.message)) return undefined;
  if (method === 'devDiagnostic') return { action: { tag: 'createMigration' } };
  if (method !== 'diagnoseMigrationHistory') return undefined;
  const unappliedMigrationNames = params.migrationsList.migrationDirectories.map((directory) => directory.path);
  return {
    hasMigrationsTable: false,
    editedMigrationNames: [],
    failedMigrationNames: [],
    history: unappliedMigrationNames.length ? { diagnostic: 'databaseIsBehind', unappliedMigrationNames } : null,
  };
}

function errorBody(error, factory) {
  let message = error?.message ?? String(error);
  // An error of the driver crosses WebAssembly as a number; the adapter's registry has kept the error itself.
  const external = /External error id#(\d+)/.exec(message)?.[1];
  const cause = external && factory?.errorRegistry.consumeError(Number(external))?.error;
  if (cause) message += `\n${cause.message}`;
  const data = { is_panic: false, message, error_code: error?.code, meta: error?.meta ?? null };
  return { code: 4466, message: 'An error happened. Check the data field for details.', data };
}

async function answer(bindings, { id, method, params }) {
  let opened;
  try {
    opened = await engineFor(bindings, params);
    const call = methods[method] ?? (({ engine }) => engine[method](params));
    send({ id, result: (await call(opened, params)) ?? null });
  } catch (error) {
    const result = answerForUntouchedDatabase(method, params, error);
    if (result) send({ id, result });
    else send({ id, error: errorBody(error, opened?.factory) });
  }
}

async function serve() {
  // The CLI ends its engine by a signal; connections are closed at `exit`.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => process.exit());
  const bindings = await loadEngine();
  // In order, one at a time: the engine is not re-entrant. A message without a method is the CLI's reply to `print`.
  for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    const message = JSON.parse(line);
    if (message.method) await answer(bindings, message);
  }
}

if (options.version) console.log(`schema-engine-wasm ${(await loadEngine()).version()}`);
else if (positionals[0] === 'cli') process.exitCode = await runCommand(positionals[1]);
else await serve();
// An adapter's pool may keep the process alive; the CLI waits for its end.
process.exit();
