import type { Costs } from '../capacity/costs.js';
import type { Agenda } from './agenda.js';
import { EventLoop, type Station } from './station.js';

/** What all nodes of a simulation share. */
export interface Clockwork {
  readonly agenda: Agenda;
  readonly shards: readonly Station[];
  readonly costs: Costs;
  readonly coalesceMs: number;
  readonly roundTripMs: number;
  readonly counts: Record<'events' | 'deliveries' | 'messages' | 'entries' | 'reads' | 'records' | 'tokens', number>;
  readonly delays: { readonly near: number[]; readonly away: number[] };
  /** Ordered pairs of nodes that have spoken, each as one number. */
  readonly pairs: Set<number>;
}

export class ChatModel {
  /** When the first of the tokens was due that wait for their window; null where none waits. */
  waitingSince: number | null = null;
  lastFlush = -Infinity;

  constructor(
    readonly owner: NodeModel,
    /** Followers at the owner's node. */
    readonly near: number,
    /** Followers at other nodes. */
    readonly doors: ReadonlyMap<NodeModel, number>,
    readonly shard: number,
  ) {}
}

interface Event {
  readonly chat: ChatModel;
  readonly dueAt: number;
}

/** One message for another node: an event, and how many follow there. */
interface Message {
  readonly followers: number;
  readonly dueAt: number;
}

/** A token that is joined to others costs no event. */
const MICROS_PER_JOINED_TOKEN = 5;
/** Entries that one read gives (`server/adapters/redis/inbox.ts`). */
const ENTRIES_AT_ONCE = 128;

/** A node as `PendingAppends`, `Coalescer`, `Pump`, `RedisBus` and `Inbox` make it. */
export class NodeModel {
  readonly loop: EventLoop;
  #isArmed = false;
  #windows: ChatModel[] = [];
  #events: Event[] = [];
  #inbox: Message[][] = [];
  #isReading = false;

  constructor(
    readonly index: number,
    private readonly given: Clockwork,
  ) {
    this.loop = new EventLoop(given.agenda);
  }

  /** The assistant says something. */
  token(chat: ChatModel): void {
    const { agenda, counts } = this.given;
    const dueAt = agenda.now;
    counts.tokens++;
    this.loop.add(() => this.#append(chat, dueAt));
  }

  /** The first goes at once; what follows within a window is joined. */
  #append(chat: ChatModel, dueAt: number): number {
    const { agenda, coalesceMs } = this.given;
    if (chat.waitingSince !== null) return MICROS_PER_JOINED_TOKEN;
    if (agenda.now - chat.lastFlush >= coalesceMs) {
      chat.lastFlush = agenda.now;
      return this.#emit({ chat, dueAt });
    }
    chat.waitingSince = dueAt;
    this.#windows.push(chat);
    if (!this.#isArmed) {
      this.#isArmed = true;
      agenda.after(coalesceMs, () => this.loop.add(() => this.#endWindow()));
    }
    return MICROS_PER_JOINED_TOKEN;
  }

  /** One window for all chats of the node (SUB-6). */
  #endWindow(): number {
    const chats = this.#windows;
    this.#windows = [];
    this.#isArmed = false;
    let micros = 0;
    for (const chat of chats) {
      const dueAt = chat.waitingSince ?? this.given.agenda.now;
      chat.waitingSince = null;
      chat.lastFlush = this.given.agenda.now;
      micros += this.#emit({ chat, dueAt });
    }
    return micros;
  }

  #emit(event: Event): number {
    this.given.counts.events++;
    this.#events.push(event);
    this.loop.atEnd(this.#record);
    return this.given.costs.nodeMicrosPerEvent;
  }

  /** Journal and record first, deliver second: one round trip for all chats, and the slowest shard decides. */
  readonly #record = (): void => {
    const { agenda, shards, costs, counts, roundTripMs } = this.given;
    const events = this.#events;
    this.#events = [];
    const perShard = new Map<number, Set<ChatModel>>();
    for (const { chat } of events) perShard.set(chat.shard, (perShard.get(chat.shard) ?? new Set()).add(chat));
    let owed = perShard.size;
    for (const [shard, chats] of perShard) {
      counts.records += chats.size;
      shards[shard]?.work(chats.size * costs.redisMicrosPerRecord, () => {
        if (--owed === 0) agenda.after(roundTripMs, () => this.loop.add(() => this.#deliver(events)));
      });
    }
  };

  #deliver(events: readonly Event[]): number {
    const { agenda, costs, counts, delays } = this.given;
    const parcels = new Map<NodeModel, Message[]>();
    let [near, messages] = [0, 0];
    for (const { chat, dueAt } of events) {
      near += chat.near;
      if (chat.near > 0) delays.near.push(agenda.now - dueAt);
      for (const [door, followers] of chat.doors) {
        const parcel = parcels.get(door);
        if (parcel) parcel.push({ followers, dueAt });
        else parcels.set(door, [{ followers, dueAt }]);
        messages++;
      }
    }
    counts.deliveries += near;
    counts.messages += messages;
    if (parcels.size > 0) this.loop.atEnd(() => this.#send(parcels));
    return (
      near * costs.nodeMicrosPerDelivery +
      messages * costs.nodeMicrosPerMessageSent +
      parcels.size * costs.nodeMicrosPerEntry
    );
  }

  /** All that one node has for another within one turn of its loop is one entry. */
  #send(parcels: ReadonlyMap<NodeModel, Message[]>): void {
    const { shards, costs, counts, pairs } = this.given;
    for (const [door, messages] of parcels) {
      counts.entries++;
      pairs.add(this.index * 1_000_000 + door.index);
      const micros = costs.redisMicrosPerEntry + messages.length * costs.redisMicrosPerMessage;
      shards[door.index % shards.length]?.work(micros, () => door.receive(messages));
    }
  }

  receive(messages: Message[]): void {
    this.#inbox.push(messages);
    if (!this.#isReading) this.#read();
  }

  /** One read is under way at a time; what comes meanwhile is for the next. */
  #read(): void {
    const { agenda, shards, costs, counts, roundTripMs } = this.given;
    this.#isReading = true;
    shards[this.index % shards.length]?.work(costs.redisMicrosPerRead, () => {
      const entries = this.#inbox.splice(0, ENTRIES_AT_ONCE);
      counts.reads++;
      agenda.after(roundTripMs, () => {
        this.loop.add(() => this.#take(entries.flat()));
        this.loop.atEnd(this.#readOn);
      });
    });
  }

  readonly #readOn = (): void => {
    if (this.#inbox.length > 0) this.#read();
    else this.#isReading = false;
  };

  #take(messages: readonly Message[]): number {
    const { agenda, costs, counts, delays } = this.given;
    let followers = 0;
    for (const message of messages) {
      followers += message.followers;
      delays.away.push(agenda.now - message.dueAt);
    }
    counts.deliveries += followers;
    return (
      costs.nodeMicrosPerEntry +
      messages.length * costs.nodeMicrosPerMessageRead +
      followers * costs.nodeMicrosPerDelivery
    );
  }
}
