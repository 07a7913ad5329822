import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './server.js';
import { until } from './until.js';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));

/** The built command line as a process, which is gone after the test. It needs `npm run build`. */
export class CliProcess {
  stdout = '';
  stderr = '';
  /** Pieces in which the output came. */
  pieces = 0;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: temporaryDirectory(),
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.pieces++;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#child = child;
    this.#closed = once(child, 'close');
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** Waits until the output holds the text. */
  async shows(text: string | RegExp): Promise<void> {
    await until(
      () => (typeof text === 'string' ? this.stdout.includes(text) : text.test(this.stdout)),
      `the output ${String(text)}`,
      15_000,
    );
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** kill -9. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** @returns the exit code once the process has ended and all its output is here, null when a signal ended it */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }
}
