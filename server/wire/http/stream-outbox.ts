import type { Writable } from 'node:stream';
import type { Clock, Timer } from '../../clock.js';
import { HARD_FACTOR, STUCK_MS } from '../outbox-bounds.js';

/** What is handed over at once: a reader that takes this in {@link STUCK_MS} moves. */
const SLICE_BYTES = 16 * 1024;
/** How long a reader has to take what is left once the stream ends (CON-6). */
const LAST_MS = 2_000;

export interface StreamOutboxNeeds {
  readonly clock: Clock;
  readonly maxOutboxBytes: number;
  /** The reader does not keep up. The stream is destroyed. */
  readonly onSlow: (waitingBytes: number) => void;
}

/**
 * What waits for one reader of a stream, bounded (SUB-7): when more than `maxOutboxBytes` waits behind the item being sent
 * and nothing of it moves for 10 s, or 16 times as much waits, the stream is destroyed. Items go out whole and in order.
 */
export class StreamOutbox {
  /** The rest of the item being sent. */
  #sending: Buffer | null = null;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #full = false;
  #ending = false;
  #stuck: Timer | null = null;
  #last: Timer | null = null;

  constructor(
    private readonly stream: Writable,
    private readonly needs: StreamOutboxNeeds,
  ) {
    stream.on('drain', () => this.#moved());
    stream.on('close', () => this.#dispose());
  }

  /** Whether all that was put in has been handed over. */
  get idle(): boolean {
    return !this.#full && this.#sending === null && this.#waiting.length === 0;
  }

  /** Bytes that wait behind the item being sent. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  put(text: string): void {
    if (this.#ending || this.stream.destroyed) return;
    if (this.idle && text.length <= SLICE_BYTES) {
      this.#full = !this.stream.write(text);
      return;
    }
    const item = Buffer.from(text);
    this.#waiting.push(item);
    this.#waitingBytes += item.length;
    this.#pump();
    this.#watch();
  }

  /** Ends the stream once all is handed over, and in any case soon. Nothing can be put in any more. */
  end(): void {
    if (this.#ending || this.stream.destroyed) return;
    this.#ending = true;
    this.#last = this.needs.clock.after(LAST_MS, () => this.stream.destroy());
    this.#pump();
  }

  #pump(): void {
    while (!this.#full) {
      const item = this.#sending ?? this.#next();
      if (item === null) break;
      this.#sending = item.length > SLICE_BYTES ? item.subarray(SLICE_BYTES) : null;
      this.#full = !this.stream.write(item.subarray(0, SLICE_BYTES));
    }
    if (this.#ending && this.#sending === null && this.#waiting.length === 0) this.stream.end();
  }

  #next(): Buffer | null {
    const item = this.#waiting.shift() ?? null;
    this.#waitingBytes -= item?.length ?? 0;
    return item;
  }

  #moved(): void {
    this.#full = false;
    this.#stuck?.cancel();
    this.#stuck = null;
    this.#pump();
    this.#watch();
  }

  #watch(): void {
    const { clock, maxOutboxBytes } = this.needs;
    if (this.#waitingBytes > HARD_FACTOR * maxOutboxBytes) this.#giveUp();
    else if (this.#waitingBytes > maxOutboxBytes) this.#stuck ??= clock.after(STUCK_MS, () => this.#giveUp());
  }

  #giveUp(): void {
    this.needs.onSlow(this.#waitingBytes);
    this.stream.destroy();
  }

  #dispose(): void {
    this.#stuck?.cancel();
    this.#last?.cancel();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#sending = null;
  }
}
