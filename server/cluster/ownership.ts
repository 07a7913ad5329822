import { ChatError } from '../../protocol/index.js';
import { isoNow, type Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { ChatRecords, RecordEntry } from '../ports/chat-records.js';
import { FencedOut } from '../ports/fence.js';
import type { JournaledAttempt } from '../ports/journal.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import type { Holding, Holdings } from '../session/holdings.js';
import { KeyedMutex } from '../session/keyed-mutex.js';
import { notHere } from './not-here.js';

export interface OwnershipNeeds {
  readonly leases: Leases;
  readonly records: ChatRecords;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is done with chats that are owned. */
export interface OwnershipUse {
  /** It asks this which chats it may write. */
  readonly store: Pick<Store, 'takeChat' | 'holderOf'>;
  /** Whether a chat is in use here, beyond the command that asked for it. */
  isNeeded(chatId: string): boolean;
  /** A chat is owned, and nobody is served yet: what was left in it is taken up. */
  taken(chatId: string): Promise<void>;
  /** A chat is owned that another node had, as far as the store knows: it may not know that it has lost it. */
  takenFrom(nodeId: string, chatId: string): void;
  /** A chat is another's now. */
  lost(chatId: string): void;
}

/** How long a chat is kept after a command, where no session of it is in memory: the next one finds it. */
const UNUSED_MS = 5_000;

/**
 * The chats that this node owns (LIF-4). To own a chat takes three things, in this order: the lease, which tells all nodes
 * where to find it; the fence, which keeps the owner before from writing; and the record, which tells what that one has left.
 */
export class Ownership implements Holdings {
  readonly #held = new Map<string, Holding>();
  readonly #taking = new KeyedMutex();
  /** When each was asked for last, by the monotonic clock. */
  readonly #askedAt = new Map<string, number>();
  #mayTake = true;
  #use!: OwnershipUse;
  /** What the journal of an earlier life on this disk holds, by chat. */
  readonly #onDisk = new Map<string, RecordEntry[]>();

  constructor(private readonly needs: OwnershipNeeds) {}

  get nodeId(): string {
    return this.needs.leases.nodeId;
  }

  /** Before anything is asked of it: the parts know each other. */
  use(use: OwnershipUse): void {
    this.#use = use;
  }

  of(chatId: string): number | null {
    return this.#held.get(chatId)?.fence ?? null;
  }

  holding(chatId: string): Holding | null {
    return this.#held.get(chatId) ?? null;
  }

  get mayTake(): boolean {
    return this.#mayTake;
  }

  /** From now on this node takes no chat that it does not own already. */
  takeNoMore(): void {
    this.#mayTake = false;
  }

  *chats(): Iterable<string> {
    yield* this.#held.keys();
  }

  /** An attempt of an earlier life of this node: for when its chat is taken and the record does not know of it. */
  alsoLeft({ attempt, entries }: JournaledAttempt): void {
    const begin = entries.map((entry) => JSON.parse(entry) as [string, { turn?: { chatId?: string } }]);
    const chatId = begin.find(([kind]) => kind === 'begin')?.[1].turn?.chatId;
    if (chatId === undefined) return;
    const notes = entries.map((json): RecordEntry => ({ kind: 'note', attempt, json }));
    this.#onDisk.set(chatId, [...(this.#onDisk.get(chatId) ?? []), ...notes]);
  }

  chatsLeft(): readonly string[] {
    return [...this.#onDisk.keys()];
  }

  /** Loses what others have taken, as the store says. */
  async compare(store: Pick<Store, 'fencesOf'>, chatIds = [...this.#held.keys()]): Promise<void> {
    for (const [chatId, fence] of await store.fencesOf(chatIds))
      if (fence > (this.of(chatId) ?? Infinity)) this.lose(chatId);
  }

  /**
   * The node that owns the chat: this one, where nobody else does.
   * @throws {ChatError} `storage_unavailable`; `draining`, where nobody does and this node is about to end
   */
  async ownerOf(chatId: string): Promise<string> {
    if (this.owns(chatId)) return this.nodeId;
    return this.#taking.run(chatId, () => this.#take(chatId));
  }

  /** Whether it is this node's now, and will be for a while unless another takes it. */
  owns(chatId: string): boolean {
    if (!this.#held.has(chatId)) return false;
    this.#askedAt.set(chatId, this.needs.clock.monotonic());
    return true;
  }

  /**
   * For who was told by the leases that the chat is this node's. Where they are right, and it does not hold it (it was lost to
   * one that has died since), it takes it up again: nobody else would.
   * @throws {ChatError} `notHere` where it is not this node's; `storage_unavailable` where it cannot be taken up
   */
  async mustOwn(chatId: string): Promise<void> {
    if (this.owns(chatId)) return;
    const isHere = (await this.isLeased(chatId)) && (await this.ownerOf(chatId)) === this.nodeId;
    if (!isHere) throw notHere();
  }

  /** Whether this node may take the chat, and all others believe that it has it. Never throws. */
  async isLeased(chatId: string): Promise<boolean> {
    if (!this.#mayTake) return false;
    return (await this.needs.leases.ownerOf(chatId).catch(() => null)) === this.nodeId;
  }

  mustHold(chatId: string): Holding {
    const holding = this.#held.get(chatId);
    if (!holding) throw notHere();
    return holding;
  }

  giveUp(chatId: string): void {
    const holding = this.#held.get(chatId);
    if (!holding) return;
    this.#drop(chatId, holding);
    void this.#afterwards(chatId, () => this.needs.leases.giveBack(chatId));
  }

  async letGo(chatId: string, isWhole: boolean, safe: Promise<void> | null = null): Promise<void> {
    const holding = this.#held.get(chatId);
    if (!holding) return;
    this.#drop(chatId, holding);
    const { leases, records } = this.needs;
    await this.#afterwards(chatId, async () => {
      await safe;
      // Where it cannot be sealed, whoever takes it begins another epoch.
      if (isWhole) await records.seal(holding.record).catch(() => undefined);
      await leases.release(chatId);
    });
  }

  /** Gives up chats that were asked for and are not needed any more: one that nobody follows and that runs nothing has no owner. */
  sweep(): void {
    const before = this.needs.clock.monotonic() - UNUSED_MS;
    const isUnused = (chatId: string): boolean => !this.#use.isNeeded(chatId) && !this.#taking.isHeld(chatId);
    for (const [chatId, askedAt] of this.#askedAt)
      if (askedAt < before && isUnused(chatId)) void this.letGo(chatId, true);
  }

  /** For a chat that is held no more: others are told, unless it was taken again before they could be. Never throws. */
  #afterwards(chatId: string, tell: () => Promise<void>): Promise<void> {
    return this.#taking.run(chatId, async () => {
      if (!this.#held.has(chatId)) await tell().catch((error: unknown) => this.#notReleased(chatId, error));
    });
  }

  #drop(chatId: string, holding: Holding): void {
    this.#held.delete(chatId);
    this.#askedAt.delete(chatId);
    holding.record.close();
  }

  /** The chat is another's: whatever says so first. Where this node has taken it again since, that is a holding of its own. */
  lose(chatId: string, fence = this.of(chatId)): void {
    const holding = this.#held.get(chatId);
    if (holding?.fence !== fence) return;
    this.#drop(chatId, holding);
    this.needs.log.warn({ chatId, fence: holding.fence }, 'a chat was taken over by another node');
    this.#use.lost(chatId);
  }

  async #take(chatId: string): Promise<string> {
    const { leases, records, clock } = this.needs;
    if (this.owns(chatId)) return this.nodeId;
    if (!this.#mayTake) {
      const owner = await leases.ownerOf(chatId);
      if (owner === null || owner === this.nodeId) throw new ChatError('draining', undefined, { retryAfterMs: 200 });
      return owner;
    }
    const { store } = this.#use;
    const owner = await leases.acquire(chatId, this.#onDisk.has(chatId));
    if (owner !== this.nodeId) return owner;
    try {
      const holder = await store.holderOf(chatId);
      const fence = await store.takeChat(chatId, this.nodeId, isoNow(clock));
      const { record, left, isSealed } = await records.open(chatId, fence);
      this.#held.set(chatId, {
        fence,
        record,
        left: withJournaled(left, this.#onDisk.get(chatId) ?? []),
        wasWhole: isSealed,
        isRecorded: true,
      });
      this.owns(chatId);
      if (holder !== null && holder !== this.nodeId) this.#use.takenFrom(holder, chatId);
      await this.#use.taken(chatId);
      this.#onDisk.delete(chatId);
      return owner;
    } catch (error) {
      const holding = this.#held.get(chatId);
      if (holding) this.#drop(chatId, holding);
      await leases.giveBack(chatId).catch((cause: unknown) => this.#notReleased(chatId, cause));
      throw error instanceof FencedOut ? new ChatError('storage_unavailable', undefined, { cause: error }) : error;
    }
  }

  #notReleased(chatId: string, error: unknown): void {
    this.needs.log.warn({ chatId, err: error }, 'a chat could not be released');
  }
}

/**
 * What is left of a chat, with what the journal of an earlier life of this node holds of it: of each attempt what goes further.
 * The record does where the disk refused writes, else the journal, which goes on while nothing can be recorded.
 */
function withJournaled(left: readonly RecordEntry[], journaled: readonly RecordEntry[]): readonly RecordEntry[] {
  const told = new Set(journaled.map(({ json }) => json));
  const isFurther = ({ kind, json }: RecordEntry): boolean => kind === 'event' && !told.has(`["event",${json}]`);
  const further = new Set(left.filter(isFurther).map(({ attempt }) => attempt));
  const better = journaled.filter(({ attempt }) => !further.has(attempt));
  const attempts = new Set(better.map(({ attempt }) => attempt));
  return [...left.filter(({ attempt }) => !attempts.has(attempt)), ...better];
}
