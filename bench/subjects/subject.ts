import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pinned, SERVER_CORE } from '../machine.js';
import type { Answer, Call } from './child.js';

/** A process that the bench starts: a server under test, a store, an agent. */
export class Subject {
  port = 0;
  readonly #waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #last = 0;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {}

  /** Starts `bench/subjects/<file>.ts` (or another file), on any core where `core` is null, and waits until it listens. @throws {Error} when it ends instead */
  static async start(
    name: string,
    file: string,
    options: object = {},
    { core = SERVER_CORE }: { core?: number | null } = {},
  ): Promise<Subject> {
    const source = fileURLToPath(new URL(`./${file}.ts`, import.meta.url));
    if (!existsSync(source)) throw new Error(`there is no subject ${file}`);
    const profiling = process.env['BENCH_PROFILE'];
    const node = [
      process.execPath,
      '--expose-gc',
      ...(profiling ? ['--cpu-prof', `--cpu-prof-dir=${profiling}`] : []),
      '--import',
      'tsx',
      source,
      JSON.stringify(options),
    ];
    const [program = '', ...args] = core === null ? node : pinned(core, node);
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const subject = new Subject(name, child);
    await subject.#listening();
    return subject;
  }

  async #listening(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.child.once('exit', (code) => {
        const ended = new Error(`${this.name} ended with ${code}`);
        reject(ended);
        for (const call of this.#waiting.values()) call.reject(ended);
        this.#waiting.clear();
      });
      this.child.on('message', (answer: Answer) => {
        if ('port' in answer) {
          this.port = answer.port;
          resolve();
          return;
        }
        const call = this.#waiting.get(answer.id);
        this.#waiting.delete(answer.id);
        if ('error' in answer) call?.reject(new Error(`${this.name}: ${answer.error}`));
        else call?.resolve(answer.result as never);
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  call<T = null>(command: string, args: object = {}): Promise<T> {
    const id = ++this.#last;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.child.send({ id, command, args } satisfies Call);
    });
  }

  /** Microseconds of processor time so far. */
  cpu(): Promise<number> {
    return this.call<number>('cpu');
  }

  memory(): Promise<{ rss: number; heapUsed: number }> {
    return this.call('memory');
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Lets it tidy up and end; what does not end is killed. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5000);
    this.child.disconnect();
    await ended;
    clearTimeout(timer);
  }
}
