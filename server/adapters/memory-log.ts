import type { ChatEventType, Position } from '../../protocol/index.js';
import type { IdSource } from '../id-source.js';
import type { ChatLog, LiveLog, LoggedEvent } from '../ports/live-log.js';

/** Bytes are counted as UTF-16 units of an event's JSON: what V8 keeps for Latin text, and half of it for other scripts. */
export interface MemoryLogOptions {
  readonly ids: IdSource;
  /** Events kept of one chat. Default 2,000 (LIF-3). */
  readonly maxEvents?: number;
  /** Bytes kept of one chat. Default 2 MiB (LIF-3). */
  readonly maxBytes?: number;
  /** Bytes kept of all chats. Default 32 MiB, so that many short chats cost no more than a few long ones. */
  readonly maxTotalBytes?: number;
}

export interface MemoryLog extends LiveLog {
  /** Bytes kept of all chats, for a gauge. */
  readonly totalBytes: number;
}

/**
 * Live logs in the memory of this process. Beyond a chat's own bounds its oldest events go; beyond the total, everything of
 * the chats that had no event for the longest time. Whoever comes back to them gets a snapshot (SUB-2).
 */
export function createMemoryLog(options: MemoryLogOptions): MemoryLog {
  const { ids, maxEvents = 2_000, maxBytes = 2 * 1024 * 1024, maxTotalBytes = 32 * 1024 * 1024 } = options;
  const shelf = new Shelf(maxTotalBytes);
  return {
    open: () => new MemoryChatLog(ids, { maxEvents, maxBytes }, shelf),
    get totalBytes() {
      return shelf.bytes;
    },
  };
}

/** What all chats keep together. */
class Shelf {
  bytes = 0;
  /** Chats that keep something, the least recently appended first. */
  readonly #chats = new Set<MemoryChatLog>();
  #newest: MemoryChatLog | null = null;

  constructor(private readonly maxBytes: number) {}

  appended(chat: MemoryChatLog): void {
    if (this.#newest !== chat) {
      this.#chats.delete(chat);
      this.#chats.add(chat);
      this.#newest = chat;
    }
    if (this.bytes <= this.maxBytes) return;
    for (const oldest of this.#chats) {
      oldest.clear();
      if (this.bytes <= this.maxBytes) return;
    }
  }

  cleared(chat: MemoryChatLog): void {
    this.#chats.delete(chat);
    if (this.#newest === chat) this.#newest = null;
  }
}

/** Stands where an event was, so that its text is free before the array is compacted. */
const DROPPED: LoggedEvent = { epoch: '', offset: 0, type: 'chat.deleted', json: '' };

/** Dropped places that are not worth a compaction. */
const SLACK = 64;

class MemoryChatLog implements ChatLog {
  bytes = 0;
  #offset = 0;
  /** The events kept, behind `#dropped` places that are free. */
  #events: LoggedEvent[] = [];
  #dropped = 0;
  #epoch: string;

  constructor(
    private readonly ids: IdSource,
    private readonly bounds: { readonly maxEvents: number; readonly maxBytes: number },
    private readonly shelf: Shelf,
  ) {
    this.#epoch = ids.epoch();
  }

  get position(): Position {
    return { epoch: this.#epoch, offset: this.#offset };
  }

  append(type: ChatEventType, encode: (position: Position) => string): LoggedEvent {
    const epoch = this.#epoch;
    const offset = this.#offset + 1;
    // Written out: a spread costs ten times as much as all the rest of this method.
    const event: LoggedEvent = { epoch, offset, type, json: encode({ epoch, offset }) };
    this.#keep(event);
    return event;
  }

  goOn(events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.#epoch = last.epoch;
    // Behind a hole: what is older could only be given with it.
    const isNext = (event: LoggedEvent, index: number): boolean => {
      const next = events[index + 1];
      return !next || (next.epoch === event.epoch && next.offset === event.offset + 1);
    };
    const hole = events.findLastIndex((event, index) => !isNext(event, index));
    for (const event of events.slice(hole + 1)) this.#keep(event);
  }

  beginEpoch(): void {
    this.clear();
    this.#epoch = this.ids.epoch();
    this.#offset = 0;
  }

  after({ epoch, offset }: Position): readonly LoggedEvent[] | null {
    if (epoch !== this.#epoch || offset > this.#offset) return null;
    const missing = this.#offset - offset;
    return missing > this.#kept ? null : this.#events.slice(this.#events.length - missing);
  }

  clear(): void {
    this.#events = [];
    this.#dropped = 0;
    this.#count(-this.bytes);
    this.shelf.cleared(this);
  }

  close(): void {
    this.clear();
  }

  #keep(event: LoggedEvent): void {
    this.#offset = event.offset;
    this.#events.push(event);
    this.#count(event.json.length);
    while (this.#kept > this.bounds.maxEvents || this.bytes > this.bounds.maxBytes) this.#dropOldest();
    this.shelf.appended(this);
  }

  get #kept(): number {
    return this.#events.length - this.#dropped;
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    this.shelf.bytes += bytes;
  }

  /** Constant time on average: the places are given back when they are half of the array. */
  #dropOldest(): void {
    this.#count(-(this.#events[this.#dropped] ?? DROPPED).json.length);
    this.#events[this.#dropped] = DROPPED;
    this.#dropped += 1;
    if (this.#dropped < SLACK || this.#dropped * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#dropped);
    this.#dropped = 0;
  }
}
