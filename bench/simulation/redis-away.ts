import type { Costs } from '../capacity/costs.js';
import { Agenda } from './agenda.js';
import type { ClusterOptions } from './cluster-options.js';
import { below, randomOf } from './random.js';
import { Station } from './station.js';

export interface RedisAwayOptions extends ClusterOptions {
  readonly awayMs: number;
  /** Which chats begin another epoch: all that the node owns, or those that have something to tell meanwhile. */
  readonly epochs: 'of all chats' | 'of chats that speak';
  /** Milliseconds over which clients spread asking again. */
  readonly spreadMs: number;
}

export interface RedisAwayResult {
  /** Followings that are begun anew, since their chat has another epoch. */
  readonly resubscribes: number;
  /** Seconds from the loss of Redis until the last of them is answered. */
  readonly servedSeconds: number;
  /** The longest that anything waited for a node's core, and for one of PostgreSQL's. */
  readonly nodeWaitSeconds: number;
  readonly postgresWaitSeconds: number;
  /** Chats written to their records anew, and how long one shard is busy with it. */
  readonly recordedAnew: number;
  readonly redisBusySeconds: number;
}

/** Redis notices nothing for so long; nodes notice by silence. */
const SILENCE_MS = 2_000;

/**
 * Redis is away for a while, or a connection to it broke within a commit: what is told from then on stands under another epoch
 * (LIF-4), whoever sees another epoch subscribes again (SUB-4), and there is no replay over an epoch: it is a snapshot.
 */
export function simulateRedisAway(options: RedisAwayOptions, costs: Costs): RedisAwayResult {
  const agenda = new Agenda();
  const random = randomOf(options.seed);
  const nodes = Array.from({ length: options.nodes }, () => new Station(agenda));
  const postgres = new Station(agenda, options.postgresCores);
  const shards = Array.from({ length: options.redisShards }, () => new Station(agenda));
  const followersPerChat = options.connections / options.chats;
  const backAt = Math.max(options.awayMs, SILENCE_MS);
  let [resubscribes, servedAt] = [0, 0];

  function resubscribe(isAway: boolean): void {
    resubscribes++;
    // Over the bus there is nobody to ask before Redis is back.
    const from = isAway ? backAt : SILENCE_MS;
    agenda.at(from + random() * options.spreadMs, () => {
      const owner = nodes[below(random, options.nodes)] as Station;
      postgres.work(costs.postgresMicrosPerSubscribe, () =>
        owner.work(costs.nodeMicrosPerSubscribe + (isAway ? costs.nodeMicrosPerSubscribeAway : 0), () => {
          servedAt = agenda.now;
        }),
      );
    });
  }

  const speaking = Math.round(options.chats * (options.epochs === 'of all chats' ? 1 : options.runningShare));
  for (let chat = 0; chat < speaking; chat++) {
    const followers = Math.floor(followersPerChat) + (random() < followersPerChat % 1 ? 1 : 0);
    for (let follower = 0; follower < followers; follower++) resubscribe(random() < options.remoteShare);
  }
  // Whatever a node owns is recorded anew, whether it has spoken or not.
  for (let chat = 0; chat < options.chats; chat++)
    agenda.at(backAt, () => shards[chat % shards.length]?.work(2 * costs.redisMicrosPerRecord, () => undefined));
  agenda.run();
  return {
    resubscribes,
    servedSeconds: servedAt / 1000,
    nodeWaitSeconds: Math.max(...nodes.map(({ longestWaitMs }) => longestWaitMs)) / 1000,
    postgresWaitSeconds: postgres.longestWaitMs / 1000,
    recordedAnew: options.chats,
    redisBusySeconds: Math.max(...shards.map(({ busyMicros }) => busyMicros)) / 1e6,
  };
}
