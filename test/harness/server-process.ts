import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { databaseUrl } from './database.js';
import { temporaryDirectory } from './server.js';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const DEFAULTS = {
  PORT: '0',
  RATE_LIMIT_PER_SECOND: '100000',
  RATE_LIMIT_BYTES_PER_SECOND: '100000000',
  MAX_CONNECTIONS_PER_USER: '1000',
  LOG_LEVEL: 'warn',
};

/** The built server as a process of its own, which can be killed. It needs `npm run build`. */
export class ServerProcess {
  #child: ChildProcess | null = null;
  url = '';
  output = '';

  constructor(
    readonly env: Record<string, string> = {},
    readonly dataDir = temporaryDirectory(),
  ) {
    // Before the kill is asked for: what is done when the test is finished is done in reverse.
    databaseUrl(dataDir);
    onTestFinished(() => this.kill());
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it (again, on the port it had) and waits for its line. @throws {Error} with what it said when it ends instead */
  async start(more: Record<string, string> = {}): Promise<this> {
    const port = this.url === '' ? {} : { PORT: new URL(this.url).port };
    const child = spawn(process.execPath, [MAIN, 'serve'], {
      env: {
        PATH: process.env['PATH'],
        TZ: process.env['TZ'],
        ...DEFAULTS,
        DATA_DIR: this.dataDir,
        DATABASE_URL: databaseUrl(this.dataDir),
        ...port,
        ...this.env,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const heard = (chunk: Buffer): void => {
        this.output += chunk.toString();
        said = (said + chunk.toString()).slice(-2000);
        const line = /Turnstream listening on (http:\S+)/.exec(said);
        if (!line) return;
        this.url = line[1] as string;
        resolve();
      };
      child.stdout.on('data', heard);
      child.stderr.on('data', heard);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${this.output.slice(-500)}`)));
    });
    return this;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
  }

  /** Sends a signal and waits for the end. @returns the exit code, null when a signal ended it */
  async signal(name: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    child.kill(name);
    await once(child, 'exit');
    return child.exitCode;
  }
}
