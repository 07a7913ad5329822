// Brings a clone, fresh or pulled, to where it can be served or tested: packages installed, Prisma clients generated,
// dist built. Does what is missing or stale, says so in one line each, and is silent where everything is as it should
// be. Needs nothing installed. Two at once are safe: the second waits, and then finds the work done.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';
import { node, npm, root } from './run.mjs';

const at = (...parts) => join(root, ...parts);

/** The rooms that are compiled into dist. */
const rooms = ['protocol', 'assistant', 'server', 'client', 'stores'];
const providers = readdirSync(at('prisma')).filter((name) => existsSync(at('prisma', name, 'main.prisma')));
const generatedFolder = (provider) => at('server', 'adapters', 'prisma', 'generated', provider);
const migrationsFolder = (provider) => at('prisma', provider, 'migrations');

// Progress goes to stderr: stdout belongs to what runs afterwards.
const say = (line) => process.stderr.write(`turnstream: ${line}\n`);

/** Ends the program with one line instead of a stack: what failed has said why. */
class PrepareError extends Error {}

/** Only if a step fails is the output of its program worth reading. */
async function step(what, running) {
  const { ok, end, output } = await running;
  if (ok) return;
  process.stderr.write(output);
  throw new PrepareError(`${what} failed (${end})`);
}

const quietly = { quiet: true };
/** The tools that build are development packages, whatever NODE_ENV says about the server that starts next. */
const npmStep = (what, ...args) => step(what, npm([...args, '--include=dev', '--no-audit', '--no-fund'], quietly));
const nodeStep = (what, ...args) => step(what, node(args, quietly));

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** A fingerprint of names and contents. Not of times: git and archives set those as they like. */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files.filter((name) => existsSync(name)).sort()) {
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

const stampOf = (folder) => join(folder, '.stamp');
const readStamp = (folder) => (existsSync(stampOf(folder)) ? readFileSync(stampOf(folder), 'utf8') : undefined);

// Packages ------------------------------------------------------------------------------------------------------------

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** npm's own record of what it installed, against the lock file: true however and by whom the packages were installed. */
function packagesAreCurrent() {
  const record = at('node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = readJson(record).packages;
  const { '': own, ...locked } = readJson(at('package-lock.json')).packages;
  // A package.json that asks for more than the lock file knows.
  const wanted = readJson(at('package.json'));
  for (const kind of ['dependencies', 'devDependencies']) {
    if (JSON.stringify(own[kind] ?? {}) !== JSON.stringify(wanted[kind] ?? {})) return false;
  }
  return Object.entries(locked).every(([path, { version, optional, devOptional }]) =>
    // An optional package is another platform's binary, most of the time.
    installed[path] ? installed[path].version === version : (optional ?? devOptional ?? false),
  );
}

/** The native module loads only in the Node it was compiled for. */
function nativeModuleLoads() {
  try {
    const Database = createRequire(at('package.json'))('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

async function installPackages() {
  if (!packagesAreCurrent()) {
    if (existsSync(at('node_modules', '.package-lock.json'))) {
      say('package-lock.json has changed: installing packages');
      // Not `npm ci`, which would throw away and compile again what is right already.
      await npmStep('installing packages', 'install');
    } else {
      say('installing packages (the first time takes a few minutes)');
      await npmStep('installing packages', 'ci');
    }
  }
  if (!nativeModuleLoads()) {
    say(`compiling better-sqlite3 for Node ${process.versions.node}`);
    await npmStep('compiling better-sqlite3', 'rebuild', 'better-sqlite3');
  }
}

// Prisma clients ------------------------------------------------------------------------------------------------------

const schemaFingerprint = (provider) =>
  fingerprint([
    at('prisma', provider, 'main.prisma'),
    ...filesUnder(at('prisma', 'models')),
    at('prisma.config.ts'),
    at('node_modules', 'prisma', 'package.json'),
  ]);

async function generateClients(force) {
  for (const provider of providers) {
    const wanted = schemaFingerprint(provider);
    const folder = generatedFolder(provider);
    if (!force && readStamp(folder) === wanted) continue;
    say(`generating the Prisma client for ${provider}`);
    // Without its stamp a client that is half written counts as missing.
    rmSync(stampOf(folder), { force: true });
    await nodeStep(`generating the client for ${provider}`, at('tools', 'prisma.mjs'), provider, 'generate');
    writeFileSync(stampOf(folder), wanted);
  }
}

// dist ----------------------------------------------------------------------------------------------------------------

const sourceFingerprint = () =>
  fingerprint([
    ...rooms.flatMap((room) => filesUnder(at(room))),
    ...providers.flatMap((provider) => filesUnder(migrationsFolder(provider))),
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'tools/prepare.mjs'].map((file) =>
      at(file),
    ),
  ]);

async function build(force) {
  const dist = at('dist');
  const wanted = sourceFingerprint();
  if (!force && readStamp(dist) === wanted) return;
  say(existsSync(dist) && !force ? 'sources have changed: building dist' : 'building dist');
  // Built beside and swapped in whole: a server that is running, or starting, never sees half of a build.
  const next = at('dist.next');
  const old = at('dist.old');
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true });
  const compiler = at('node_modules', 'typescript', 'bin', 'tsc');
  await nodeStep('building dist', compiler, '-p', 'tsconfig.build.json', '--outDir', 'dist.next');
  for (const provider of providers) {
    // At the same place as in the sources, seen from server/adapters: one relative path serves both.
    const migrations = migrationsFolder(provider);
    if (existsSync(migrations)) cpSync(migrations, join(next, relative(root, migrations)), { recursive: true });
  }
  const bundler = at('node_modules', 'vite', 'bin', 'vite.js');
  const pages = ['build', '--config', at('client', 'web', 'vite.config.ts'), '--outDir', join(next, 'web')];
  await nodeStep('building the pages', bundler, ...pages, '--emptyOutDir');
  mkdirSync(next, { recursive: true });
  writeFileSync(stampOf(next), wanted);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(next, dist);
  rmSync(old, { recursive: true, force: true });
}

/**
 * Makes the clone ready.
 * @param options.upTo the last step to take: 'generate' or 'build'
 * @param options.force takes that step even if nothing has changed
 * @throws PrepareError after the failing program's output has been shown
 */
export async function prepare({ upTo = 'build', force = false } = {}) {
  await withLock(at('.prepare.lock'), say, async () => {
    await installPackages();
    await generateClients(force && upTo === 'generate');
    if (upTo === 'build') await build(force);
  });
}

/** As `prepare`, for a program: one line and exit code 1 instead of a stack. */
export async function prepareOrExit(options) {
  try {
    await prepare(options);
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    say(error.message);
    process.exit(1);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const generate = process.argv.includes('--generate');
  const force = generate || process.argv.includes('--rebuild');
  await prepareOrExit({ upTo: generate ? 'generate' : 'build', force });
}
