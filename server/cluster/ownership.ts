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

/** How long a chat is kept after a command, where no session of it is in memory: the next one finds it. */
const UNUSED_MS = 5_000;

/**
 * The chats that this node owns (LIF-4). To own a chat takes three things, in this order: the lease, which tells all nodes
 * where to find it; the fence, which keeps the owner before from writing; and the record, which tells what that one has left.
 */
export class Ownership implements Holdings {
  readonly #held = new Map<string, Holding>();
  readonly #taking = new KeyedMutex();
  #onTaken: (chatId: string) => Promise<void> = () => Promise.resolve();
  #onLost: (chatId: string) => void = () => undefined;
  #isNeeded: (chatId: string) => boolean = () => false;
  /** When each was asked for last, by the monotonic clock. */
  readonly #askedAt = new Map<string, number>();
  #mayTake = true;
  #store: Pick<Store, 'takeChat'> | null = null;
  /** What the journal of an earlier life on this disk holds, by chat. */
  readonly #onDisk = new Map<string, RecordEntry[]>();

  constructor(private readonly needs: OwnershipNeeds) {}

  get nodeId(): string {
    return this.needs.leases.nodeId;
  }

  /** The store that takes chats; it asks this which chats it may write. */
  use(store: Pick<Store, 'takeChat'>): void {
    this.#store = store;
  }

  /** Called when a chat is owned, before anybody is served: what was left in it is taken up. */
  onTaken(listener: (chatId: string) => Promise<void>): void {
    this.#onTaken = listener;
  }

  /** Tells whether a chat is in use here, beyond the command that asked for it. */
  neededWhere(isNeeded: (chatId: string) => boolean): void {
    this.#isNeeded = isNeeded;
  }

  /** Called when a chat is another's now. */
  onLost(listener: (chatId: string) => void): void {
    this.#onLost = listener;
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
  async compare(store: Pick<Store, 'fencesOf'>): Promise<void> {
    for (const [chatId, fence] of await store.fencesOf([...this.#held.keys()]))
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

  mustHold(chatId: string): Holding {
    const holding = this.#held.get(chatId);
    if (!holding) throw notHere();
    return holding;
  }

  letGo(chatId: string, isWhole: boolean): Promise<void> {
    return this.#release(chatId, isWhole);
  }

  /** Gives up chats that were asked for and are not needed any more: one that nobody follows and that runs nothing has no owner. */
  sweep(): void {
    const before = this.needs.clock.monotonic() - UNUSED_MS;
    for (const [chatId, askedAt] of this.#askedAt)
      if (askedAt < before && !this.#isNeeded(chatId)) void this.#release(chatId, true);
  }

  /** Gives the chat up: nothing of it is left to be ended. */
  async #release(chatId: string, isWhole: boolean): Promise<void> {
    await this.#taking.run(chatId, async () => {
      const holding = this.#held.get(chatId);
      if (!holding || this.#isNeeded(chatId)) return;
      this.#drop(chatId, holding);
      const { leases, records } = this.needs;
      // Where it cannot be sealed, whoever takes it begins another epoch.
      if (isWhole) await records.seal(holding.record).catch(() => undefined);
      await leases.release(chatId).catch((error: unknown) => this.#notReleased(chatId, error));
    });
  }

  #drop(chatId: string, holding: Holding): void {
    this.#held.delete(chatId);
    this.#askedAt.delete(chatId);
    holding.record.close();
  }

  /** The chat is another's: whatever says so first. */
  lose(chatId: string): void {
    const holding = this.#held.get(chatId);
    if (!holding) return;
    this.#drop(chatId, holding);
    this.needs.log.warn({ chatId, fence: holding.fence }, 'a chat was taken over by another node');
    this.#onLost(chatId);
  }

  async #take(chatId: string): Promise<string> {
    const { leases, records, clock } = this.needs;
    if (this.owns(chatId)) return this.nodeId;
    if (!this.#mayTake) {
      const owner = await leases.ownerOf(chatId);
      if (owner === null || owner === this.nodeId) throw new ChatError('draining', undefined, { retryAfterMs: 200 });
      return owner;
    }
    const { owner } = await leases.acquire(chatId, this.#onDisk.has(chatId));
    if (owner !== this.nodeId) return owner;
    try {
      if (!this.#store) throw new ChatError('storage_unavailable');
      const fence = await this.#store.takeChat(chatId, this.nodeId, isoNow(clock));
      const { record, left, isSealed } = await records.open(chatId, fence);
      this.#held.set(chatId, {
        fence,
        record,
        left: this.#withDisk(chatId, left),
        wasWhole: isSealed,
        isRecorded: true,
      });
      this.owns(chatId);
      await this.#onTaken(chatId);
      return owner;
    } catch (error) {
      const holding = this.#held.get(chatId);
      if (holding) this.#drop(chatId, holding);
      await leases.release(chatId).catch((cause: unknown) => this.#notReleased(chatId, cause));
      throw error instanceof FencedOut ? new ChatError('storage_unavailable', undefined, { cause: error }) : error;
    }
  }

  #withDisk(chatId: string, left: readonly RecordEntry[]): readonly RecordEntry[] {
    const recorded = new Set(left.map(({ attempt }) => attempt));
    const onDisk = this.#onDisk.get(chatId) ?? [];
    this.#onDisk.delete(chatId);
    return [...left, ...onDisk.filter(({ attempt }) => !recorded.has(attempt))];
  }

  #notReleased(chatId: string, error: unknown): void {
    this.needs.log.warn({ chatId, err: error }, 'a chat could not be released');
  }
}
