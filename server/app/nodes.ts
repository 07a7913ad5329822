import { openRedisBus } from '../adapters/redis/bus.js';
import { createRedisChatRecords } from '../adapters/redis/chat-records.js';
import { openRedisCounters } from '../adapters/redis/counters.js';
import { openRedisLeases } from '../adapters/redis/leases.js';
import type { Clock } from '../clock.js';
import { joinCluster, type Cluster, type ClusterNeeds } from '../cluster/join-cluster.js';
import { Ownership } from '../cluster/ownership.js';
import { Recording } from '../cluster/recording.js';
import type { Config } from '../config.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { Fences } from '../ports/fence.js';
import { ALONE, type Holdings } from '../session/holdings.js';
import type { Safekeeping } from '../session/pump.js';
import { recover } from '../session/recover.js';
import type { RateCounters } from '../wire/rate-limit.js';
import { openAll, type Opened } from './opened.js';
import { rootOf, shownAddress } from './told-plainly.js';

/** What makes this process a node among others (LIF-4), or a node of its own. */
export interface Node {
  /** How it holds its database. */
  readonly claim: 'alone' | 'among nodes';
  readonly holdings: Holdings;
  readonly fences: Fences | undefined;
  readonly safekeeping: Safekeeping | undefined;
  readonly counters: RateCounters | undefined;
  readonly join: (needs: Joining) => Promise<Cluster>;
  /** Lets go of what it shares with others; after it has left them, where it had joined. */
  close(): Promise<void>;
}

type Joining = Omit<ClusterNeeds, 'leases' | 'bus' | 'ownership' | 'recording'>;

interface Foundation {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
}

const OF_ITS_OWN: Node = {
  claim: 'alone',
  holdings: ALONE,
  fences: undefined,
  safekeeping: undefined,
  counters: undefined,
  join: ({ env, sessions, desk, agentDesk }) =>
    Promise.resolve({
      desk,
      agentDesk,
      isHealthy: true,
      takeUpAll: () => recover(env, sessions),
      beginLeaving: () => undefined,
      leave: () => Promise.resolve(),
    }),
  close: () => Promise.resolve(),
};

/** @throws {Error} in one line where Redis does not answer */
export async function openNode(foundation: Foundation): Promise<Node> {
  const url = foundation.config.redisUrl;
  if (url === undefined) return OF_ITS_OWN;
  try {
    return await openAll((opened) => openAmongOthers(url, foundation, opened));
  } catch (error) {
    throw new Error(`Redis at ${shownAddress(url)} cannot be used: ${rootOf(error).message}`, { cause: error });
  }
}

async function openAmongOthers(url: string, { config, clock, ids, log }: Foundation, opened: Opened): Promise<Node> {
  const redis = { url, clock, ids, log, prefix: config.redisPrefix };
  const counts = await openRedisCounters(redis);
  opened.add(() => counts.close());
  const records = await createRedisChatRecords({
    ...redis,
    maxEvents: config.logMaxEvents,
    maxBytes: config.logMaxBytes,
    ttlMs: config.logTtlMs,
  });
  opened.add(() => records.close());
  const leases = await openRedisLeases(redis);
  opened.add(() => leases.close());
  const bus = await openRedisBus({ ...redis, nodeId: leases.nodeId });
  opened.add(() => bus.close());
  const ownership = new Ownership({ leases, records, clock, log });
  const recording = new Recording({ records, ownership, clock, log });
  opened.add(() => recording.close());
  return {
    claim: 'among nodes',
    holdings: ownership,
    fences: ownership,
    safekeeping: recording.keep,
    counters: counts.counters,
    join(needs) {
      recording.of(needs.sessions);
      return joinCluster({ ...needs, leases, bus, ownership, recording });
    },
    close: () => opened.close(),
  };
}
