import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { until } from './until.js';

export interface ShellOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command line in a shell of its own, which is gone with all its children after the test. */
export class Shell {
  /** What came on stdout and stderr. */
  output = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(commands: string, { cwd, env = {} }: ShellOptions) {
    // A group of its own, so that what the shell starts can be told and ended with it.
    this.#child = spawn('sh', ['-c', commands], {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.#closed = once(this.#child, 'close');
    onTestFinished(() => this.signal('SIGKILL'));
  }

  async shows(text: string | RegExp): Promise<void> {
    const isThere = (): boolean => (typeof text === 'string' ? this.output.includes(text) : text.test(this.output));
    await until(isThere, `the output ${String(text)}`, 20_000).catch((error: unknown) => {
      throw new Error(`${String(error)}; it was: ${this.output}`);
    });
  }

  /** Tells all processes of the shell. */
  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-(this.#child.pid ?? 0), name);
    } catch {
      // They have ended.
    }
  }

  /** @returns the exit code, null when a signal ended it */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }
}
