// node tools/prisma.mjs <sqlite|postgresql> <prisma command ...>
//
// The Prisma CLI for one of the two databases. The models are written once, in prisma/models; a provider's folder adds
// its datasource, its generator and its migrations. The CLI reads one folder, so the models are laid into it first.
//
// Every command gets tools/schema-engine.mjs as its schema engine: the native one is a download at run time, and a
// clone has to build where there is no network but a package registry.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);

const modelsIn = (folder) => readdirSync(folder).filter((name) => name.endsWith('.prisma'));

/**
 * Brings every model of `from` into `to`. Files that are right already stay untouched, so that a second command running
 * at the same time never finds half a schema.
 */
function copyModels(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of modelsIn(from)) {
    const text = readFileSync(join(from, name), 'utf8');
    const target = join(to, name);
    if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text);
  }
}

function schemaEngine() {
  // Windows cannot start a script by its path; there the CLI fetches the native engine.
  if (process.platform === 'win32') return undefined;
  const engine = at('tools', 'schema-engine.mjs');
  // A clone has the mode from git; an unpacked archive may have lost it.
  chmodSync(engine, 0o755);
  return engine;
}

const [provider = '', ...args] = process.argv.slice(2);
const providers = ['sqlite', 'postgresql'].filter((name) => existsSync(at('prisma', name, 'main.prisma')));
if (!providers.includes(provider) || args.length === 0) {
  console.error(`usage: node tools/prisma.mjs <${providers.join('|')}> <prisma command ...>`);
  process.exit(2);
}
if (!existsSync(at('prisma', 'models'))) {
  console.error('prisma/models holds no models yet');
  process.exit(2);
}

const models = at('prisma', 'models');
const copies = at('prisma', provider, 'models');
copyModels(models, copies);
for (const name of modelsIn(copies)) if (!existsSync(join(models, name))) rmSync(join(copies, name));

const env = { ...process.env, DB_PROVIDER: provider, PRISMA_HIDE_UPDATE_MESSAGE: '1', CHECKPOINT_DISABLE: '1' };
const engine = schemaEngine();
if (engine) env.PRISMA_SCHEMA_ENGINE_BINARY ??= engine;

const cli = at('node_modules', 'prisma', 'build', 'index.js');
const { status } = spawnSync(process.execPath, [cli, ...args], { stdio: 'inherit', cwd: root, env });
// `format` has worked on the copies; what it tidied is the models.
if (args[0] === 'format' && status === 0) copyModels(copies, models);
process.exit(status ?? 1);
