import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { ServerProcess } from '../harness/server-process.js';
import { storeBeside } from '../harness/store-beside.js';
import { readStored, type Stored } from './rows.js';
import type { Ground, Misfortune, Topology } from './topology.js';

/** One server with a database of its own, which is killed, stopped and kept from writing. */
export class OneServer implements Topology {
  readonly isSpread = false;
  readonly patienceMs = 20_000;
  /** What it may say of a database that is locked. */
  readonly usualLines = [/a turn has ended and could not be stored yet/, /an attempt could not be prepared/];
  readonly #server: ServerProcess;
  #ground!: Ground;
  #isUp: Promise<void> = Promise.resolve();
  #unlock: (() => void) | null = null;

  constructor(env: Readonly<Record<string, string>>) {
    this.#server = new ServerProcess(env);
  }

  get url(): string {
    return this.#server.url;
  }

  get urls(): readonly string[] {
    return [this.url];
  }

  get output(): string {
    return this.#server.output;
  }

  async begin(ground: Ground): Promise<void> {
    this.#ground = ground;
    await this.#server.start();
  }

  ready(): Promise<void> {
    return this.#isUp;
  }

  befall(misfortune: Misfortune): Promise<void> {
    switch (misfortune.do) {
      case 'lock':
        return this.#lock(misfortune.ms);
      case 'end':
        return this.#end(misfortune.signal, misfortune.downMs);
      default:
        throw new Error(`${misfortune.do} befalls several nodes`);
    }
  }

  heal(): void {
    this.#unlock?.();
  }

  stored(): Promise<Stored> {
    return readStored(storeBeside(this.#server.dataDir));
  }

  /** Holds the database's write lock as another process would. */
  async #lock(ms: number): Promise<void> {
    if (this.#unlock) return;
    const file = new BetterSqlite3(join(this.#server.dataDir, 'turnstream.db'), { timeout: 200 });
    try {
      file.exec('BEGIN IMMEDIATE');
    } catch {
      file.close();
      return;
    }
    this.#unlock = () => {
      this.#unlock = null;
      file.exec('ROLLBACK');
      file.close();
    };
    await this.#ground.pause(ms);
    this.#unlock?.();
  }

  /** Ends the server, and starts it again on what it left. */
  async #end(signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<void> {
    const ground = this.#ground;
    let isUp = (): void => undefined;
    const before = this.#isUp;
    this.#isUp = new Promise((resolve) => (isUp = resolve));
    await before;
    if (signal === 'SIGKILL') ground.crash('present');
    const code = await this.#server.signal(signal);
    if (signal === 'SIGTERM' && code !== 0) ground.fault(`LIF-1: the server ended with ${code}`);
    ground.trace(`the server has ended (${signal})`);
    this.#unlock?.();
    await ground.pause(downMs);
    ground.beginLife();
    await this.#server.start();
    ground.trace('the server is up again');
    isUp();
    await ground.comeBack();
  }
}
