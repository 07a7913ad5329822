/**
 * What was opened, each with how it is closed: in the reverse order, and once, whoever asks for it. What fails to close keeps
 * nothing else open.
 */
export class Opened {
  readonly #closers: (() => void | Promise<void>)[] = [];
  #closing: Promise<void> | null = null;

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** Whether somebody has closed it, or begun to. */
  get isClosed(): boolean {
    return this.#closing !== null;
  }

  /** Also what was added since it was closed. @throws {unknown} the first failure, once everything else is closed */
  close(): Promise<void> {
    const before = this.#closing ?? Promise.resolve();
    this.#closing = before.catch(() => undefined).then(() => this.#closeAll());
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Opens one thing after another; where one of them fails, or somebody closes them meanwhile, all of them are closed. */
export async function openAll<T>(open: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = new Opened();
  try {
    const result = await open(opened);
    if (opened.isClosed) throw new Error('it was closed while it was being opened');
    return result;
  } catch (error) {
    // Why it failed says more than what came of closing.
    await opened.close().catch(() => undefined);
    throw error;
  }
}

/** Opens what a work needs, and closes it when the work is over. */
export async function whileOpen<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = new Opened();
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
