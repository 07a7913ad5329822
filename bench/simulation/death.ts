import type { Costs } from '../capacity/costs.js';
import { quantile } from '../report.js';
import { Agenda } from './agenda.js';
import type { ClusterOptions } from './cluster-options.js';
import { below, randomOf } from './random.js';
import { Station } from './station.js';

/** Which chats of a dead node another one asks for. */
type Taking = 'every chat' | 'a share';

interface DeathResult {
  /** Seconds from the death until another node has declared it, and until all others know. */
  readonly declaredSeconds: number;
  readonly toldSeconds: number;
  readonly chats: number;
  /** Seconds from the death until half, 99 of 100, all of its chats have an owner that has taken them up. */
  readonly takenSeconds: Readonly<Record<'half' | 'most' | 'all', number>>;
  /** Scripts that ask for a chat: one is needed for each. */
  readonly asked: number;
  readonly redisBusySeconds: number;
  /** Connections that come back, and how soon all are served again (chats of the dead node aside). */
  readonly reconnects: number;
  readonly reconnectedSeconds: number;
  /** The longest that anything waited for a node's core meanwhile. */
  readonly nodeWaitSeconds: number;
  readonly nodeBusySeconds: { readonly mean: number; readonly max: number };
}

const BEAT_MS = 3_000;
const LIFE_MS = 9_000;
/** Chats that one node takes up at a time (`server/cluster/join-cluster.ts`). */
const AT_ONCE = 16;
/** The first wait of a client that was cut off (`client/backoff.ts`), from 0 up to this. */
const FIRST_BACKOFF_MS = 250;
/** An event of a record that is taken up: reading it in Redis, parsing it at the new owner. */
const REDIS_MICROS_PER_EVENT_READ = 0.5;
const NODE_MICROS_PER_EVENT_READ = 6;

/**
 * A node is killed. Its connections come back at once, anywhere; its chats wait until its death is declared, and then every
 * other node tries to take every one of them, as the code does, or a share.
 */
export function simulateDeath(options: ClusterOptions & { readonly taking: Taking }, costs: Costs): DeathResult {
  const agenda = new Agenda();
  const random = randomOf(options.seed);
  const survivors = options.nodes - 1;
  const nodes = Array.from({ length: survivors }, () => new Station(agenda));
  const shards = Array.from({ length: options.redisShards }, () => new Station(agenda));
  const leases = shards[0] as Station;
  const postgres = new Station(agenda, options.postgresCores);
  const left = Math.round(options.chats / options.nodes);

  const reconnects = Math.round(options.connections / options.nodes);
  let reconnectedAt = 0;
  for (let index = 0; index < reconnects; index++)
    agenda.at(random() * FIRST_BACKOFF_MS, () => {
      const node = nodes[below(random, survivors)] as Station;
      node.work(costs.nodeMicrosPerConnect + costs.nodeMicrosPerSubscribe, () => (reconnectedAt = agenda.now));
    });

  // Beats of the others fall anywhere within three seconds; the dead one's last was up to three seconds ago.
  const beats = Array.from({ length: survivors }, () => random() * BEAT_MS);
  const silentAt = LIFE_MS - random() * BEAT_MS;
  const heardAt = beats.map((first) => first + BEAT_MS * Math.ceil(Math.max(0, silentAt - first) / BEAT_MS));
  const declaredAt = Math.min(...heardAt);

  const owners = new Int32Array(left).fill(-1);
  const takenAt: number[] = [];
  let asked = 0;

  /** Lease, fence, record, and what the dead has left in it. */
  function take(chat: number, node: number, next: () => void): void {
    asked++;
    leases.work(costs.redisMicrosPerScript, () => {
      if (owners[chat] !== -1) return next();
      owners[chat] = node;
      postgres.work(costs.postgresMicrosPerTake + costs.postgresMicrosPerSubscribe, () => {
        const { eventsPerRecord } = options;
        const shard = shards[chat % shards.length] as Station;
        shard.work(costs.redisMicrosPerRecord + eventsPerRecord * REDIS_MICROS_PER_EVENT_READ, () => {
          const ends = chat < options.runningShare * left ? costs.nodeMicrosPerTurn : 0;
          const micros = costs.nodeMicrosPerTake + eventsPerRecord * NODE_MICROS_PER_EVENT_READ + ends;
          (nodes[node] as Station).work(micros, () => {
            takenAt.push(agenda.now);
            next();
          });
        });
      });
    });
  }

  for (const [node, heard] of heardAt.entries())
    agenda.at(heard, () => {
      // All of them go through the same list from its end, or each through every so-manyth of it.
      const step = options.taking === 'every chat' ? 1 : survivors;
      let waiting = left - 1 - (options.taking === 'every chat' ? 0 : node);
      const worker = (): void => {
        const chat = waiting;
        waiting -= step;
        if (chat >= 0) take(chat, node, worker);
      };
      for (let count = 0; count < AT_ONCE; count++) worker();
    });
  agenda.run();

  const seconds = takenAt.map((ms) => ms / 1000);
  const busy = nodes.map(({ busyMicros }) => busyMicros / 1e6);
  return {
    declaredSeconds: declaredAt / 1000,
    toldSeconds: Math.max(...heardAt) / 1000,
    chats: left,
    takenSeconds: { half: quantile(seconds, 0.5), most: quantile(seconds, 0.99), all: quantile(seconds, 1) },
    asked,
    redisBusySeconds: shards.reduce((sum, { busyMicros }) => sum + busyMicros / 1e6, 0),
    reconnects,
    reconnectedSeconds: reconnectedAt / 1000,
    nodeWaitSeconds: Math.max(...nodes.map(({ longestWaitMs }) => longestWaitMs)) / 1000,
    nodeBusySeconds: { mean: busy.reduce((sum, value) => sum + value, 0) / survivors, max: Math.max(...busy) },
  };
}
