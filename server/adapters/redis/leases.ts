import { ChatError } from '../../../protocol/index.js';
import type { Timer } from '../../clock.js';
import type { Leases, Standing } from '../../ports/leases.js';
import { DEFAULT_PREFIX, RedisConnection, type Ask, type RedisOptions } from './connection.js';
import { isForeign } from './foreign.js';
import { LEASE_SCRIPTS, type LeaseScripts } from './lease-scripts.js';

export interface RedisLeasesOptions extends RedisOptions {
  /** Milliseconds between two beats of this node. */
  readonly heartbeatMs?: number;
  /** Milliseconds without a beat after which a node is declared dead, at the next beat of another: 12 s at worst (LIF-4). */
  readonly lifeMs?: number;
}

/** Chats that one command names: more would hold up Redis for others. */
const CHATS_AT_ONCE = 1000;

/** @throws {ChatError} `storage_unavailable` where Redis does not answer */
export async function openRedisLeases(options: RedisLeasesOptions): Promise<Leases> {
  const leases = new RedisLeases(options);
  await leases.open();
  return leases;
}

/**
 * Leases by one heartbeat per node. What a node owns is in Redis and in its memory, and compared whenever there is a new
 * connection: memory is right, unless the node was declared dead, or Redis lost data and another node was quicker.
 */
class RedisLeases implements Leases {
  readonly nodeId: string;
  readonly #connection: RedisConnection<LeaseScripts>;
  readonly #prefix: string;
  readonly #heartbeatMs: number;
  readonly #lifeMs: number;
  /** Chats that this node was told to own. */
  readonly #owned = new Set<string>();
  /** When each dead node was told, by the monotonic clock. */
  readonly #told = new Map<string, number>();
  #isLost = false;
  #joining: Promise<void> | null = null;
  /** The time of the last answered beat: as Redis says it, and when it was sent by this node's monotonic clock. */
  #beat = 0;
  #beatSentAt = 0;
  /** Since when Redis has answered without a break: a node that may have missed beats of others declares nobody dead. */
  #steadySince = 0;
  #nextBeat: Timer | null = null;
  #unsureAt: Timer | null = null;
  #saidStanding: Standing = 'held';
  #onDeath: (nodeId: string, chatIds: readonly string[]) => void = () => {};
  #onTaken: (chatIds: readonly string[]) => void = () => {};
  #onStanding: (standing: Standing) => void = () => {};

  constructor(private readonly options: RedisLeasesOptions) {
    this.nodeId = options.ids.id();
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#heartbeatMs = options.heartbeatMs ?? 3000;
    this.#lifeMs = options.lifeMs ?? 9000;
    const prepare = (ask: Ask<LeaseScripts>): Promise<void> => this.#join(ask);
    this.#connection = new RedisConnection({ ...options, name: 'turnstream-leases', scripts: LEASE_SCRIPTS, prepare });
  }

  async open(): Promise<void> {
    await this.#connection.connect();
    this.#beatLater();
  }

  get standing(): Standing {
    if (this.#isLost) return 'lost';
    return this.options.clock.monotonic() - this.#beatSentAt < this.#lifeMs ? 'held' : 'unsure';
  }

  async acquire(chatId: string, wasMine = false): Promise<string> {
    const answer = await this.#ask((client) => client.acquire(this.#prefix, this.nodeId, chatId, wasMine ? 1 : 0));
    if (answer.state === 'unknown') {
      void this.#joinAgain();
      throw new ChatError('storage_unavailable');
    }
    if (answer.state === 'settling') {
      throw new ChatError('storage_unavailable', undefined, { retryAfterMs: answer.forMs });
    }
    if (answer.owner === this.nodeId) this.#owned.add(chatId);
    return answer.owner;
  }

  ownerOf(chatId: string): Promise<string | null> {
    return this.#ask((client) => client.ownerOf(this.#prefix, chatId));
  }

  async release(chatId: string): Promise<void> {
    this.#owned.delete(chatId);
    await this.#ask((client) => client.release(this.#prefix, this.nodeId, chatId));
  }

  async giveBack(chatId: string): Promise<void> {
    this.#owned.delete(chatId);
    await this.#ask((client) => client.disown(this.#prefix, this.nodeId, chatId));
  }

  nodes(): Promise<readonly string[]> {
    return this.#ask((client) => client.zRange(`${this.#prefix}nodes`, 0, -1));
  }

  onDeath(listener: (nodeId: string, chatIds: readonly string[]) => void): void {
    this.#onDeath = listener;
  }

  onTaken(listener: (chatIds: readonly string[]) => void): void {
    this.#onTaken = listener;
  }

  onStanding(listener: (standing: Standing) => void): void {
    this.#onStanding = listener;
  }

  async close(): Promise<void> {
    this.#stop();
    if (this.#isLost) return;
    const released = inPortions([...this.#owned]);
    const ask = this.#ask;
    await Promise.all([
      ...released.map((chatIds) => ask((client) => client.release(this.#prefix, this.nodeId, ...chatIds))),
      ask((client) => client.leave(this.#prefix, this.nodeId)),
      // While Redis is away nobody can be told; others will find this node dead.
    ]).catch(() => {});
    this.#connection.close();
  }

  readonly #ask: Ask<LeaseScripts> = async (command) => {
    if (this.#isLost) throw new ChatError('storage_unavailable');
    // What stands under the name of one chat's key is that chat's trouble: the connection goes on for all others.
    const answer = await this.#connection.ask((client) =>
      command(client).catch((error: unknown) => {
        if (isForeign(error)) return new Foreign(error);
        throw error;
      }),
    );
    if (answer instanceof Foreign) throw new ChatError('storage_unavailable', undefined, { cause: answer.cause });
    return answer;
  };

  /** Tells Redis of this node, and makes it know what this node owns. */
  async #join(ask: Ask<LeaseScripts>): Promise<void> {
    const { clock } = this.options;
    const sentAt = clock.monotonic();
    const settleMs = 2 * this.#heartbeatMs;
    const answer = await ask((client) => client.join(this.#prefix, this.nodeId, this.#beat, settleMs));
    if (answer.state === 'lost') return this.#lose();
    this.#steadySince = clock.monotonic();
    this.#heard(answer.beat, sentAt);
    const inRedis = new Set(answer.owned);
    for (const chatIds of inPortions(answer.owned.filter((chatId) => !this.#owned.has(chatId)))) {
      await ask((client) => client.disown(this.#prefix, this.nodeId, ...chatIds));
    }
    for (const chatIds of inPortions([...this.#owned].filter((chatId) => !inRedis.has(chatId)))) {
      const taken = await ask((client) => client.claim(this.#prefix, this.nodeId, this.#lifeMs, ...chatIds));
      for (const chatId of taken) this.#owned.delete(chatId);
      if (taken.length > 0) this.#onTaken(taken);
    }
  }

  /** Redis is there and has forgotten this node. */
  #joinAgain(): Promise<void> {
    this.#joining ??= this.#join(this.#ask)
      // A connection that fails is made again, and begins with joining.
      .catch(() => {})
      .finally(() => (this.#joining = null));
    return this.#joining;
  }

  #beatLater(): void {
    this.#nextBeat = this.options.clock.after(this.#heartbeatMs, () => {
      this.#beatLater();
      void this.#beatNow().catch(() => {});
    });
  }

  async #beatNow(): Promise<void> {
    const { clock } = this.options;
    const sentAt = clock.monotonic();
    const known = sentAt - this.#steadySince < this.#lifeMs ? 0 : this.#beat;
    const timing = [this.#heartbeatMs, this.#lifeMs, 2 * this.#lifeMs] as const;
    const answer = await this.#ask((client) => client.beat(this.#prefix, this.nodeId, known, ...timing));
    if (answer.state === 'lost') return this.#lose();
    if (answer.state === 'forgotten') return this.#joinAgain();
    this.#heard(answer.beat, sentAt);
    await Promise.all(answer.dead.map(({ nodeId, left }) => this.#tell(nodeId, left)));
  }

  /** Tells of a dead node, at first and as long as there is something left of it. */
  async #tell(nodeId: string, left: number): Promise<void> {
    const now = this.options.clock.monotonic();
    const toldAt = this.#told.get(nodeId);
    if (toldAt !== undefined && (left === 0 || now - toldAt < this.#lifeMs)) return;
    const chatIds = await this.#ask((client) => client.sMembers(`${this.#prefix}owned:${nodeId}`));
    this.#told.set(nodeId, now);
    this.#onDeath(nodeId, chatIds);
  }

  /** A beat was answered: nobody can declare this node dead until it has been silent again. */
  #heard(beat: number, sentAt: number): void {
    this.#beat = beat;
    this.#beatSentAt = sentAt;
    this.#unsureAt?.cancel();
    this.#sayStanding();
  }

  #lose(): void {
    this.#isLost = true;
    this.#owned.clear();
    this.#stop();
    this.#connection.close();
    this.options.log.error({ nodeId: this.nodeId }, 'this node was declared dead by the others');
    this.#sayStanding();
  }

  #stop(): void {
    this.#nextBeat?.cancel();
    this.#unsureAt?.cancel();
  }

  /** Says where this node stands, when that has changed; while all is well, it looks again when that might end. */
  #sayStanding(): void {
    const { standing } = this;
    if (standing === 'held') {
      const { clock } = this.options;
      const leftMs = this.#beatSentAt + this.#lifeMs - clock.monotonic();
      this.#unsureAt = clock.after(leftMs, () => this.#sayStanding());
    }
    if (standing === this.#saidStanding) return;
    this.#saidStanding = standing;
    this.#onStanding(standing);
  }
}

/** An answer that says that a key is not ours. */
class Foreign {
  constructor(readonly cause: unknown) {}
}

function inPortions(chatIds: readonly string[]): string[][] {
  const portions: string[][] = [];
  for (let start = 0; start < chatIds.length; start += CHATS_AT_ONCE) {
    portions.push(chatIds.slice(start, start + CHATS_AT_ONCE));
  }
  return portions;
}
