import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Pages in the log (4 MiB) from which on a checkpoint is worth its wait for the disk. */
const START_PAGES = 1000;
/** Pages in the log (64 MiB) from which on writers wait for the checkpoint that is running. */
const MAX_PAGES = 16_384;
/** Tries to catch up with a writer that goes on; then its next commit asks again. */
const ROUNDS = 20;

/**
 * A checkpoint copies what has been committed from the write-ahead log into the database file, and waits for the disk.
 * PASSIVE: it hinders neither readers nor the writer. When it has caught up, the next commit starts the log anew.
 */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const Database = require(workerData.driver);
const file = new Database(workerData.path, { timeout: 0 });
parentPort.on('message', (message) => {
  if (message === 'close') {
    file.close();
    parentPort.close();
    return;
  }
  for (let round = 0; round < ${ROUNDS}; round++) {
    const [{ log, checkpointed }] = file.pragma('wal_checkpoint(PASSIVE)');
    if (log === checkpointed) break;
  }
  parentPort.postMessage('done');
});
`;

/**
 * Checkpoints in a thread of its own. SQLite would do it within a commit, on the event loop: tens of milliseconds each
 * time, more where the disk is slow (docs/decisions/0012).
 */
export class WalCheckpointer {
  #worker: Worker | undefined;
  /** For good: SQLite's own checkpoints go on, at their own bound. */
  #stopped = false;
  #pages = 0;
  /** Settles when the checkpoint that is running has ended. */
  #running: Promise<void> | undefined;
  #end = (): void => {};

  constructor(private readonly path: string) {}

  /** To be called after each commit, with the pages that the log holds more than the database. */
  committed(pages: number): void {
    this.#pages = pages;
    if (pages < START_PAGES || this.#running || this.#stopped) return;
    this.#running = new Promise((resolve) => (this.#end = resolve));
    this.#worker ??= this.#start();
    this.#worker.postMessage('checkpoint');
  }

  /** Resolves when the log has room: a writer that outruns the disk waits for it here, and not on the event loop. */
  async room(): Promise<void> {
    if (this.#pages >= MAX_PAGES) await this.#running;
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker || this.#stopped) return;
    this.#stopped = true;
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close');
    await gone;
  }

  #start(): Worker {
    const driver = createRequire(import.meta.url).resolve('better-sqlite3');
    const worker = new Worker(WORKER, { eval: true, workerData: { driver, path: this.path }, execArgv: [] });
    const ended = (): void => {
      this.#running = undefined;
      this.#end();
    };
    worker.on('message', ended);
    worker.on('error', () => {
      this.#stopped = true;
      ended();
    });
    worker.unref();
    return worker;
  }
}
