import { ChatError } from '../protocol/index.js';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Failure {
  readonly error: unknown;
}

interface Queued<W> {
  readonly write: W;
  waiting: Waiting[];
}

/** What carries the writes out. A write that failed is carried out again, and may have been done: each is idempotent. */
export interface Writer<W> {
  /** How many of the first writes may go together; at least one. */
  together(writes: readonly W[]): number;
  write(writes: readonly W[]): Promise<void>;
  /** The server will never take this write: it is dropped. Without this such a write stays, like any that fails. */
  refused?(write: W): void;
}

/**
 * Writes in the order of asking, one thing at a time, so that nothing is lost or overtaken. What fails stays, with all that
 * is behind it: everyone who waits is told, and the next write, or {@link flushed}, tries again from there. What the server
 * refuses for good is dropped where the writer lets it go: its asker alone is told, and the next write goes on.
 */
export class WriteQueue<W> {
  readonly #queue: Queued<W>[] = [];
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();
  /** The first refusal that `flushed` has not told of. */
  #refusal: Failure | null = null;

  constructor(private readonly writer: Writer<W>) {}

  /** Writes that are not done. */
  get length(): number {
    return this.#queue.length;
  }

  /** Resolves when the server has it. The promise may be left alone: `flushed` tells of what went wrong. */
  push(write: W): Promise<void> {
    const queued: Queued<W> = { write, waiting: [] };
    this.#queue.push(queued);
    const written = waitFor(queued);
    written.catch(() => undefined);
    this.#start();
    return written;
  }

  /**
   * Resolves when the server has everything that was asked for until now. It tries again what failed.
   *
   * @throws the first failure: one that stopped the queue, or a refusal that no call of this has told of
   */
  async flushed(): Promise<void> {
    const failure = await this.#settled();
    const first = this.#refusal ?? failure;
    this.#refusal = null;
    if (first) throw first.error;
  }

  /** As `flushed`, but refusals are left for it to tell of. @throws what stopped the queue */
  async drained(): Promise<void> {
    const failure = await this.#settled();
    if (failure && !this.#isDropped(failure)) throw failure.error;
  }

  /** Gives up what is not written, once nothing is being written. @returns what is given up */
  async discard(): Promise<W[]> {
    while (this.#isWriting) await this.#writing;
    return this.#queue.splice(0).map(({ write }) => write);
  }

  /** Resolves when the last write of now is over, with what became of it. */
  async #settled(): Promise<Failure | null> {
    const last = this.#queue.at(-1);
    const settled = last && waitFor(last).then(() => null, failureOf);
    this.#start();
    return (await settled) ?? null;
  }

  #start(): void {
    if (!this.#isWriting) this.#writing = this.#run();
  }

  /** Never fails: whoever waits is told. */
  async #run(): Promise<void> {
    this.#isWriting = true;
    // One by one after a refusal of several, until it is known which of them it was.
    let alone = 0;
    while (this.#queue.length > 0) {
      const writes = this.#queue.slice(0, AT_ONCE).map(({ write }) => write);
      const count = alone-- > 0 ? 1 : this.writer.together(writes);
      const failure = await this.writer.write(writes.slice(0, count)).then(() => null, failureOf);
      if (!failure)
        for (const { waiting } of this.#queue.splice(0, count)) for (const { resolve } of waiting) resolve();
      else if (!this.#isDropped(failure)) {
        this.#stop(failure.error);
        break;
      } else if (count > 1) alone = count;
      else this.#drop(failure);
    }
    this.#isWriting = false;
  }

  /** Whether the write that failed so is dropped: the same one can never succeed. */
  #isDropped({ error }: Failure): boolean {
    if (!this.writer.refused || !(error instanceof ChatError)) return false;
    // Who is not known now may be known later.
    return !error.retryable && error.code !== 'unauthenticated';
  }

  /** What is queued stays. */
  #stop(error: unknown): void {
    for (const queued of this.#queue) {
      const { waiting } = queued;
      queued.waiting = [];
      for (const { reject } of waiting) reject(error);
    }
  }

  #drop(failure: Failure): void {
    const dropped = this.#queue.shift();
    if (!dropped) return;
    this.#refusal ??= failure;
    this.writer.refused?.(dropped.write);
    for (const { reject } of dropped.waiting) reject(failure.error);
  }
}

/** Looked at for what may go together. */
const AT_ONCE = 1000;

const failureOf = (error: unknown): Failure => ({ error });

const waitFor = (queued: Queued<unknown>): Promise<void> =>
  new Promise((resolve, reject) => queued.waiting.push({ resolve, reject }));
