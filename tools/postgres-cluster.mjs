// A PostgreSQL server for a while: made from the machine's own binaries in a folder that is thrown away.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.mjs';

/** Where Debian keeps what it does not put into PATH, newest version first. */
const DEBIAN = '/usr/lib/postgresql';

function binaries() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  return folders.find((folder) => ['initdb', 'pg_ctl'].every((name) => existsSync(join(folder, name))));
}

/** PostgreSQL refuses to run as root. @returns what runs its programs as a user whom it accepts; null where there is none */
function identity() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

export const canMakeCluster = () => binaries() !== undefined && identity() !== null;

/** Makes a cluster that does not run yet. What is committed to it survives its own crash, not the machine's. */
export async function makeCluster() {
  const bin = binaries();
  const as = identity();
  const folder = mkdtempSync(join(tmpdir(), 'turnstream-postgresql-'));
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const port = await freePort();
  const options = { cwd: folder, stdio: 'ignore', ...as };
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off`;

  /** @throws {Error} with what the server has logged */
  async function run(name, ...args) {
    const [code] = await once(spawn(join(bin, name), args, options), 'close');
    if (code !== 0) throw new Error(`${name} failed\n${existsSync(log) ? readFileSync(log, 'utf8') : ''}`);
  }
  const stopping = (mode) => ['stop', '-D', data, '-m', mode];

  await run('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync');
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    /** Resolves when it takes connections. */
    start: () => run('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', settings),
    /** @param mode `fast` ends connections; `immediate` is a crash */
    stop: (mode) => run('pg_ctl', ...stopping(mode)),
    /** Ends it, running or not, and deletes its folder; at once, so that a process that exits can do it. */
    remove() {
      spawnSync(join(bin, 'pg_ctl'), stopping('immediate'), options);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
