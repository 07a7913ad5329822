import { Arrivals } from './arrivals.js';
import { entryOf, type BusEntry } from './bus-entry.js';
import { DEFAULT_SILENCE_MS, RedisConnection, type RedisOptions } from './connection.js';
import { isForeign } from './foreign.js';

/** Entries that one read gives: one that holds several messages is 256 KiB at most. */
const ENTRIES_AT_ONCE = 128;
const FROM_THE_START = '0-0';

export interface InboxOptions extends RedisOptions {
  readonly key: string;
  /** Milliseconds that the inbox outlives its last read. */
  readonly keepMs: number;
  /** Milliseconds that one read waits for something to come. */
  readonly blockMs: number;
  onMessage(from: string, message: string): void;
  onGap(from: string): void;
}

/**
 * The one reader of a node's inbox. What was read is taken out with the next read. Each new connection reads from the start,
 * and so does a read after one that has waited in vain: what comes twice is known by its numbers, and an inbox that was
 * made anew in another Redis may count from anywhere.
 */
export class Inbox {
  readonly #connection: RedisConnection<Record<never, never>>;
  readonly #arrivals = new Map<string, Arrivals>();

  constructor(private readonly options: InboxOptions) {
    const { silenceMs = DEFAULT_SILENCE_MS, blockMs } = options;
    this.#connection = new RedisConnection({
      ...options,
      name: 'turnstream-inbox',
      scripts: {},
      silenceMs: blockMs + silenceMs,
      onAgain: () => void this.#read(),
    });
  }

  /** @throws {ChatError} `storage_unavailable` where Redis does not answer */
  async open(): Promise<void> {
    await this.#connection.connect();
    void this.#read();
  }

  forget(from: string): void {
    this.#arrivals.delete(from);
  }

  get isUp(): boolean {
    return this.#connection.isUp;
  }

  close(): void {
    this.#connection.close();
  }

  /** Reads as long as the present connection lasts. */
  async #read(): Promise<void> {
    let after = FROM_THE_START;
    for (;;) {
      const entries = await this.#next(after).catch(() => null);
      if (!entries) return;
      for (const [, fields] of entries) this.#take(entryOf(fields));
      after = entries.at(-1)?.[0] ?? FROM_THE_START;
    }
  }

  /** Takes out what came before, waits for more, and gives it; [] where nothing came. */
  async #next(after: string): Promise<Entries> {
    const { key, keepMs, blockMs } = this.options;
    return this.#connection.ask(async (client) => {
      const [, , reply] = await Promise.all([
        client.sendCommand(['XTRIM', key, 'MINID', idAfter(after)]),
        client.sendCommand(['PEXPIRE', key, String(keepMs)]),
        client.sendCommand([
          ...['XREAD', 'COUNT', String(ENTRIES_AT_ONCE), 'BLOCK', String(blockMs)],
          ...['STREAMS', key, after],
        ]),
      ]).catch(async (error: unknown) => {
        if (!isForeign(error)) throw error;
        // It keeps everybody from sending: what they could not is sent again.
        await client.del(key);
        return [];
      });
      // The client's own form of a reply would keep one of several fields of one name.
      return (reply as unknown as [[key: string, entries: Entries]] | null | undefined)?.[0][1] ?? [];
    });
  }

  #take(entry: BusEntry): void {
    const arrivals = this.#arrivals.get(entry.from) ?? new Arrivals();
    this.#arrivals.set(entry.from, arrivals);
    const { isAfterGap, messages } = arrivals.take(entry);
    if (isAfterGap) this.options.onGap(entry.from);
    for (const message of messages) this.options.onMessage(entry.from, message);
  }
}

type Entries = readonly [id: string, fields: string[]][];

/** The least id after this one. */
function idAfter(id: string): string {
  const [ms, count] = id.split('-');
  return `${ms}-${BigInt(count ?? 0) + 1n}`;
}
