import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createClient } from 'redis';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const USUAL_POSTGRES = 'postgresql://postgres@127.0.0.1:5432/postgres';

interface RealNode {
  readonly child: ChildProcess;
  readonly port: number;
}

/**
 * A few nodes of `dist/` with a Redis and a database of their own, to hold the simulation against: nobody else's commands are
 * among those that Redis counts.
 */
export class RealCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'turnstream-real-'));
  readonly #nodes: RealNode[] = [];
  #redis: ChildProcess | null = null;
  #client: ReturnType<typeof createClient> | null = null;
  #database: string | null = null;

  /** @throws {Error} where PostgreSQL or `redis-server` is missing; `close` is to be called all the same */
  async start(size: number): Promise<void> {
    const redisPort = await freePort();
    const redisUrl = `redis://127.0.0.1:${redisPort}`;
    this.#redis = await started(
      spawn('redis-server', ['--port', String(redisPort), '--bind', '127.0.0.1', '--dir', this.#folder, '--save', ''], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
      /Ready to accept connections/,
    ).then(({ child }) => child);
    this.#client = createClient({ url: redisUrl });
    await this.#client.connect();

    const name = `turnstream_bench_${process.pid}_${Date.now()}`;
    const address = new URL(process.env['TEST_POSTGRES_URL'] ?? USUAL_POSTGRES);
    address.pathname = `/${name}`;
    this.#database = name;
    for (let index = 0; index < size; index++) await this.#startNode(index, address.href, redisUrl);
  }

  get ports(): readonly number[] {
    return this.#nodes.map(({ port }) => port);
  }

  /** How often each command was called since Redis started; those that scripts make are counted too. */
  async calls(): Promise<ReadonlyMap<string, number>> {
    const info = String(await this.#ask(['INFO', 'commandstats']));
    const stats = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
    return new Map(stats.map(([, command = '', calls]) => [command, Number(calls)]));
  }

  /** Entries that were ever added to inboxes that are still there. */
  async entriesOfInboxes(): Promise<number> {
    let sum = 0;
    for (const name of (await this.#ask(['KEYS', '*inbox:*'])) as string[]) {
      const about = (await this.#ask(['XINFO', 'STREAM', name])) as (string | number)[];
      sum += Number(about[about.indexOf('entries-added') + 1]);
    }
    return sum;
  }

  /** Keys whose name holds the word, and how many of them never expire. */
  async keys(word: string): Promise<{ readonly count: number; readonly forEver: number }> {
    const names = (await this.#ask(['KEYS', `*${word}*`])) as string[];
    let forEver = 0;
    for (const name of names) if (Number(await this.#ask(['PTTL', name])) === -1) forEver++;
    return { count: names.length, forEver };
  }

  /** One figure of each node's `/metrics`, all its labels added up, of all nodes together. */
  async metric(name: string): Promise<number> {
    let sum = 0;
    for (const { port } of this.#nodes) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)`, 'gm')))
        sum += Number(value);
    }
    return sum;
  }

  async close(): Promise<void> {
    this.#client?.destroy();
    for (const child of [...this.#nodes.map((node) => node.child), ...(this.#redis ? [this.#redis] : [])]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    if (this.#database !== null) await dropDatabase(this.#database);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #startNode(index: number, databaseUrl: string, redisUrl: string): Promise<void> {
    const env = {
      PATH: process.env['PATH'],
      ...{ PORT: '0', DATA_DIR: join(this.#folder, `node-${index}`), LOG_LEVEL: 'error' },
      ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
      ...{ RATE_LIMIT_PER_SECOND: '100000', MAX_CONNECTIONS_PER_USER: '100000', MAX_HANDSHAKES_PER_ADDRESS: '100000' },
    };
    const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const { said } = await started(child, /listening on http:\S+:(\d+)/);
    this.#nodes.push({ child, port: Number(said[1]) });
  }

  #ask(words: string[]): Promise<unknown> {
    if (!this.#client) throw new Error('the cluster is not started');
    return this.#client.sendCommand(words);
  }
}

async function started(child: ChildProcess, line: RegExp): Promise<{ child: ChildProcess; said: RegExpExecArray }> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const said = line.exec(output);
      if (said) resolve({ child, said });
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output.slice(-500)}`)));
  });
}

async function dropDatabase(name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] ?? USUAL_POSTGRES });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
