import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** One run of the effect of a node, as the world outside has seen it. */
export interface Effect {
  readonly path: string;
  readonly attempt: number;
  /** Whether it tells that the node's step had come to its end for those who had asked for it. */
  readonly done?: boolean;
}

/** How often a node throws before it succeeds, and whether before or after what it does. */
export type Throws = Readonly<Record<string, { readonly times: number; readonly late: boolean }>>;

export const INJECTED = 'injected';

/** Side effects, in a file that outlives any process: each is written before the step that has it returns. */
export class Effects {
  readonly #counts = new Map<string, number>();

  constructor(
    readonly file: string,
    private readonly throws: Throws = {},
  ) {
    for (const { path, done } of this.read()) if (!done) this.#count(path);
  }

  /** The effect of a node happens. @throws {Error} where the node is to fail before it does anything */
  run(path: string, attempt: number): void {
    this.#write({ path, attempt });
    const fault = this.throws[path];
    if (this.#count(path) <= (fault?.times ?? 0) && !fault?.late) throw new Error(`${INJECTED} ${path}`);
  }

  /** @throws {Error} where the node is to fail after what it does */
  finish(path: string): void {
    const fault = this.throws[path];
    if (fault?.late && (this.#counts.get(path) ?? 0) <= fault.times) throw new Error(`${INJECTED} ${path}`);
  }

  done(path: string, attempt: number): void {
    this.#write({ path, attempt, done: true });
  }

  read(): Effect[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Effect);
  }

  #count(path: string): number {
    const count = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, count);
    return count;
  }

  #write(effect: Effect): void {
    appendFileSync(this.file, `${JSON.stringify(effect)}\n`);
  }
}
