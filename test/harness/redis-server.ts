import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createClient } from 'redis';
import { describe, onTestFinished } from 'vitest';
import { temporaryDirectory } from './server.js';

/** A `describe` for tests that need a Redis of their own; skipped where the machine has no `redis-server`. */
export const describeWithRedisServer = describe.skipIf(spawnSync('redis-server', ['--version']).status !== 0);

/** A Redis of one test, on a free port. It keeps nothing on its disk but what it is told to `SAVE`. */
export class RedisServer {
  readonly #folder = temporaryDirectory();
  #child: ChildProcess | null = null;

  private constructor(private readonly port: number) {
    onTestFinished(() => this.kill());
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it (again), with what was saved: nothing, as a rule. */
  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder, '--save', ''];
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Ready to accept connections')) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${said.slice(-500)}`)));
    });
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** It does nothing, and its connections stay, until {@link resume}. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** What one command answers. */
  async command(...words: string[]): Promise<unknown> {
    const client = await createClient({ url: this.url }).connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
