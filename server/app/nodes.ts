import type { DataDirectoryClaim } from '../adapters/data-directory.js';
import { openRedisBus } from '../adapters/redis/bus.js';
import { createRedisChatRecords } from '../adapters/redis/chat-records.js';
import { openRedisLeases } from '../adapters/redis/leases.js';
import type { Clock } from '../clock.js';
import { joinCluster, type Cluster, type ClusterNeeds } from '../cluster/join-cluster.js';
import { Ownership } from '../cluster/ownership.js';
import { Recording } from '../cluster/recording.js';
import type { Config } from '../config.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { Bus } from '../ports/bus.js';
import type { Leases } from '../ports/leases.js';
import { SERVER_VERSION } from '../version.js';
import { rootOf, shownAddress } from './told-plainly.js';

/** The ways to the other nodes (LIF-4). */
export interface OtherNodes {
  readonly leases: Leases;
  readonly bus: Bus;
  readonly ownership: Ownership;
  readonly recording: Recording;
}

/** Null on a node of its own. @throws {Error} in one line where Redis does not answer */
export async function openOtherNodes(
  claim: DataDirectoryClaim,
  {
    config,
    clock,
    ids,
    log,
  }: { readonly config: Config; readonly clock: Clock; readonly ids: IdSource; readonly log: Log },
): Promise<OtherNodes | null> {
  const { redisUrl: url, redisPrefix: prefix } = config;
  if (url === undefined) return null;
  const redis = { url, clock, ids, log, prefix };
  try {
    const leases = await openRedisLeases({ ...redis, info: { version: SERVER_VERSION } });
    const bus = await openRedisBus({ ...redis, nodeId: leases.nodeId });
    const records = await createRedisChatRecords({
      ...redis,
      maxEvents: config.logMaxEvents,
      maxBytes: config.logMaxBytes,
      ttlMs: config.logTtlMs,
    });
    const ownership = new Ownership({ leases, records, clock, log });
    return { leases, bus, ownership, recording: new Recording({ records, ownership, clock, log }) };
  } catch (error) {
    claim.release();
    throw new Error(`Redis at ${shownAddress(url)} cannot be used: ${rootOf(error).message}`, { cause: error });
  }
}

/** This process becomes a node among the others. */
export async function joinOtherNodes(
  { leases, bus, ownership, recording }: OtherNodes,
  needs: Omit<ClusterNeeds, keyof OtherNodes>,
): Promise<Cluster> {
  const { env, sessions } = needs;
  ownership.use(env.store);
  recording.of(sessions);
  ownership.onTaken(async (chatId) => {
    // What stood in it may have been changed elsewhere since it was here (CMD-5).
    env.revisions.raise(chatId);
    const isWaiting = ownership.holding(chatId)?.left.some(({ attempt }) => attempt !== null);
    if (isWaiting || (await env.store.queuedTurns(chatId)).length > 0) await sessions.open(chatId);
  });
  return joinCluster({ ...needs, leases, bus, ownership, recording });
}
