import type { Timer } from '../../clock.js';
import type { Bus } from '../../ports/bus.js';
import { fieldsOf } from './bus-entry.js';
import { DEFAULT_PREFIX, RedisConnection, type RedisOptions } from './connection.js';
import { Inbox } from './inbox.js';
import { Outlet, type Parcel } from './outlet.js';

export interface RedisBusOptions extends RedisOptions {
  /** The name that others send to; without a space. */
  readonly nodeId: string;
  /** Entries of an inbox that nobody reads: those of one sender and one tick of its event loop are one. */
  readonly maxInboxEntries?: number;
  /** Characters of messages to one receiver that wait for Redis. */
  readonly maxWaitingChars?: number;
  /** Milliseconds that an inbox outlives its last read. */
  readonly keepMs?: number;
  /** Milliseconds after a message in which its sender says how many there were, in case that the last ones were lost; and again. */
  readonly countMs?: number;
  /** Milliseconds that one read of the inbox waits. */
  readonly blockMs?: number;
}

/** @throws {ChatError} `storage_unavailable` where Redis does not answer */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const bus = new RedisBus(options);
  await bus.open();
  return bus;
}

/** An inbox per node, a stream. One connection writes to those of others, and one reads this node's own. */
class RedisBus implements Bus {
  readonly #prefix: string;
  readonly #life: string;
  readonly #keepMs: number;
  readonly #connection: RedisConnection<Record<never, never>>;
  readonly #inbox: Inbox;
  readonly #outlets = new Map<string, Outlet>();
  /** Entries that Redis has not answered for. */
  readonly #underWay = new Set<Promise<void>>();
  #isFlushDue = false;
  #isClosed = false;
  #countTimer: Timer | null = null;
  /** What came before anybody listened: this node can be written to as soon as its name is known. */
  readonly #early: [from: string, message: string][] = [];
  #onMessage = (from: string, message: string): void => void this.#early.push([from, message]);
  readonly #onGap = new Set<(from: string) => void>();

  constructor(private readonly options: RedisBusOptions) {
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#life = options.ids.epoch();
    this.#keepMs = options.keepMs ?? 60_000;
    const onAgain = (): void => this.#sendAgain();
    this.#connection = new RedisConnection({ ...options, name: 'turnstream-bus', scripts: {}, onAgain });
    this.#inbox = new Inbox({
      ...options,
      key: this.#keyOf(options.nodeId),
      keepMs: this.#keepMs,
      blockMs: options.blockMs ?? 3000,
      onMessage: (from, message) => this.#onMessage(from, message),
      onGap: (from) => this.#gap(from),
    });
  }

  async open(): Promise<void> {
    await this.#connection.connect();
    await this.#inbox.open().catch((error: unknown) => {
      this.#connection.close();
      throw error;
    });
  }

  send(to: string, message: string): void {
    if (this.#isClosed) return;
    let outlet = this.#outlets.get(to);
    if (!outlet) {
      outlet = new Outlet(this.options.maxWaitingChars ?? 16 * 1024 * 1024);
      this.#outlets.set(to, outlet);
    }
    outlet.add(message);
    this.#flushSoon();
    this.#countLater();
  }

  onMessage(listener: (from: string, message: string) => void): void {
    this.#onMessage = listener;
    for (const [from, message] of this.#early.splice(0)) listener(from, message);
  }

  onGap(listener: (from: string) => void): void {
    this.#onGap.add(listener);
  }

  forget(nodeId: string): void {
    this.#outlets.delete(nodeId);
    this.#inbox.forget(nodeId);
  }

  get isUp(): boolean {
    return this.#connection.isUp && this.#inbox.isUp;
  }

  async close(): Promise<void> {
    this.#flush();
    this.#isClosed = true;
    this.#countTimer?.cancel();
    this.#inbox.close();
    await Promise.all(this.#underWay);
    this.#connection.close();
  }

  #keyOf(nodeId: string): string {
    return `${this.#prefix}inbox:${nodeId}`;
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.options.clock.soon(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    if (!this.#connection.isUp) return;
    for (const [to, outlet] of this.#outlets) {
      for (let parcel = outlet.next(); parcel; parcel = outlet.next()) this.#write(to, outlet, parcel);
    }
  }

  #write(to: string, outlet: Outlet, parcel: Parcel): void {
    const { nodeId, maxInboxEntries = 10_000 } = this.options;
    const key = this.#keyOf(to);
    const fields = fieldsOf({ from: nodeId, life: this.#life, ...parcel });
    const written: Promise<void> = this.#connection
      .ask((client) =>
        Promise.all([
          client.sendCommand(['XADD', key, 'MAXLEN', '~', String(maxInboxEntries), '*', ...fields]),
          // Its reader renews it; the inbox of one that is dead goes.
          client.sendCommand(['PEXPIRE', key, String(this.#keepMs), 'NX']),
        ]),
      )
      // Where it failed, the connection is made again, and all that was not answered for is sent again.
      .then(() => outlet.answered(parcel))
      .catch(() => {})
      .finally(() => this.#underWay.delete(written));
    this.#underWay.add(written);
  }

  #sendAgain(): void {
    for (const outlet of this.#outlets.values()) outlet.again();
    this.#flushSoon();
  }

  #gap(from: string): void {
    for (const listener of this.#onGap) listener(from);
  }

  #countLater(): void {
    this.#countTimer ??= this.options.clock.after(this.options.countMs ?? 3000, () => this.#sayCounts());
  }

  #sayCounts(): void {
    this.#countTimer = null;
    for (const outlet of this.#outlets.values()) if (outlet.sayCount()) this.#countLater();
    this.#flushSoon();
  }
}
