import { createChats, Crowd, followChats, type Arrival } from '../../load/crowd.js';
import { openTurns } from '../../load/audience.js';
import { pause } from '../../machine.js';
import type { Scale } from '../../measure.js';
import { figure, type Table } from '../../report.js';
import { callsIn, type NodesUnderTest, type Spent } from '../../subjects/nodes.js';
import type { Subject } from '../../subjects/subject.js';
import type { Trial } from '../../trials.js';

/** Two heartbeats of every connection. */
const IDLE_MS = 50_000;
const KiB = 1024;

interface Contender {
  readonly name: string;
  readonly arrival: Arrival;
  /** Chats for so many connections; the node that owns them: the one that they come to, or another. */
  readonly chats: 'none' | 'one' | 'each';
  readonly isAway: boolean;
}

const GREETED: Contender = { name: 'connected', arrival: 'greeted', chats: 'none', isAway: false };
const TOGETHER: Contender = {
  name: 'following one chat of this node',
  arrival: 'subscribed',
  chats: 'one',
  isAway: false,
};
const EACH: Contender = {
  name: 'following a chat each, of this node',
  arrival: 'subscribed',
  chats: 'each',
  isAway: false,
};
const AWAY: Contender = {
  name: 'following a chat each, of another node',
  arrival: 'subscribed',
  chats: 'each',
  isAway: true,
};

interface Weighed {
  readonly arriving: Spent;
  /** Microseconds a second at the node that they come to: before they come, and when they have. */
  readonly before: number;
  readonly staying: number;
  /** Bytes at the node that they come to, and of the heap at the other. */
  readonly resident: number;
  readonly heap: number;
  readonly heapAway: number;
  /** What Redis is asked while nothing happens, a second. */
  readonly redisIdle: { readonly micros: number; readonly commands: number };
}

/** Microseconds a second of the first node. */
const rateOf = ({ result, ms }: Trial<{ readonly spent: Spent }>): number =>
  (1000 * (result.spent.nodeMicros[0] ?? Number.NaN)) / ms;

/** What connections cost that come, stay and say nothing: at the node that they come to, and at another that owns the chats. */
export async function* connections(nodes: NodesUnderTest, [node, other]: readonly Subject[], scale: Scale) {
  if (!node || !other) throw new Error('there are no two nodes');
  const size = scale.isQuick ? 100 : 2000;
  const idleMs = scale.isQuick ? 1000 : IDLE_MS;
  const alone = (await node.memory()).rss;

  async function weigh({ name, arrival, chats, isAway }: Contender): Promise<Weighed> {
    const chatOf = (index: number): string => `conn-${name.length}-${chats === 'each' ? index : 0}`;
    const ids = [...new Set(Array.from({ length: chats === 'none' ? 0 : size }, (_, i) => chatOf(i)))];
    const owner = isAway ? other : node;
    if (!owner || !node || !other) throw new Error('there are no two nodes');
    await createChats(owner, ids);
    // A chat that somebody follows there stays there.
    const followed = isAway ? await followChats(owner, ids) : null;
    const warm = { size: size / 5, chatOf: (index: number) => `warm-${chatOf(index)}` };
    await createChats(owner, [...new Set(ids.slice(0, warm.size).map((id) => `warm-${id}`))]);
    const warmUp = await Crowd.arrive(node, arrival, warm);
    await warmUp.leave();
    const [before, beforeAway] = [await node.memory(), await other.memory()];
    const nobody = await nodes.trial(() => pause(idleMs / 5));
    const arriving = await nodes.trial(() => Crowd.arrive(node, arrival, { size, chatOf }));
    const idle = await nodes.trial(() => pause(idleMs));
    const [after, afterAway] = [await node.memory(), await other.memory()];
    await arriving.result.done.leave();
    followed?.close();
    return {
      ...{ arriving: arriving.result.spent, before: rateOf(nobody), staying: rateOf(idle) },
      ...{ resident: after.rss - before.rss, heap: after.heapUsed - before.heapUsed },
      heapAway: afterAway.heapUsed - beforeAway.heapUsed,
      redisIdle: {
        micros: (1000 * nobody.result.spent.redisMicros) / nobody.ms,
        commands: (1000 * callsIn(nobody.result.spent)) / nobody.ms,
      },
    };
  }

  const weighed = new Map<Contender, Weighed>();
  for (const each of [GREETED, TOGETHER, EACH, AWAY]) weighed.set(each, await weigh(each));
  const of = (contender: Contender): Weighed => weighed.get(contender) as Weighed;
  const micros = (spent: Spent, index: number): number => spent.nodeMicros[index] ?? Number.NaN;
  const arriving = (contender: Contender, index: number): number => micros(of(contender).arriving, index) / size;
  const stayingRate = (contender: Contender): number => (of(contender).staying - of(contender).before) / size;

  yield {
    title: `${figure(size)} connections to one node that stay ${idleMs / 1000} s, each: CPU in µs, memory in KiB`,
    columns: [
      ...['connections', 'coming', 'at the other', 'PostgreSQL', 'Redis', 'staying, a second'],
      ...['resident', 'JS heap', 'heap at the other'],
    ],
    rows: [...weighed].map(([contender, { arriving: spent, resident, heap, heapAway }]) => [
      contender.name,
      figure(arriving(contender, 0)),
      figure(arriving(contender, 1)),
      figure(spent.postgresMicros / size),
      figure(spent.redisMicros / size),
      figure(stayingRate(contender)),
      ...[resident, heap, heapAway].map((bytes) => figure(bytes / size / KiB)),
    ]),
    figures: {
      nodeMicrosPerConnect: arriving(GREETED, 0),
      nodeMicrosPerSubscribe: arriving(EACH, 0) - arriving(GREETED, 0),
      nodeMicrosPerSubscribeAway: arriving(AWAY, 0) + arriving(AWAY, 1) - arriving(EACH, 0),
      nodeMicrosPerConnectionSecond: stayingRate(GREETED),
      nodeBytesPerConnection: of(GREETED).resident / size,
      nodeBytesPerFollowing: (of(TOGETHER).heap - of(GREETED).heap) / size,
      nodeBytesPerChat: (of(EACH).heap - of(TOGETHER).heap) / size,
      nodeBytesPerFollowingAway: (of(AWAY).heap - of(GREETED).heap) / size,
      nodeBytesPerGuest: of(AWAY).heapAway / size,
      nodeBytesAlone: alone,
      nodeMicrosPerSecondIdle: of(GREETED).before,
      redisMicrosPerNodeSecondIdle: of(GREETED).redisIdle.micros / 2,
      redisCommandsPerNodeSecondIdle: of(GREETED).redisIdle.commands / 2,
      redisMicrosPerFollow: (of(EACH).arriving.redisMicros - of(GREETED).arriving.redisMicros) / size,
      redisMicrosPerConnect: of(GREETED).arriving.redisMicros / size,
      postgresMicrosPerSubscribe: (of(EACH).arriving.postgresMicros - of(GREETED).arriving.postgresMicros) / size,
    },
  } satisfies Table;
}

/** What a running turn keeps, just begun and after it has said something. */
export async function runningTurns(nodes: NodesUnderTest, [owner]: readonly Subject[], scale: Scale): Promise<Table> {
  if (!owner) throw new Error('there is no node');
  const count = scale.isQuick ? 50 : 1000;
  const tokens = scale.isQuick ? 20 : 200;
  const chats = (prefix: string): string[] => Array.from({ length: count }, (_, i) => `running-${prefix}-${i}`);
  // What grows once grows here.
  await openTurns(owner, chats('warm'));
  const look = async () => ({ ...(await owner.memory()), redis: (await nodes.redis.look()).memoryBytes });
  const before = await look();
  await openTurns(owner, chats('measured'));
  const begun = await look();
  await owner.call('pace', { chats: chats('measured'), perSecond: tokens / 10, ms: 10_000 });
  const said = await look();
  type Looked = Awaited<ReturnType<typeof look>>;
  const grown = (then: Looked, now: Looked): string[] =>
    (['rss', 'heapUsed', 'redis'] as const).map((name) => figure((now[name] - then[name]) / count / KiB));
  return {
    title: `${figure(count)} running turns, each in a chat of its own that nobody follows: memory in KiB`,
    columns: ['a turn', 'node, resident', 'JS heap', 'Redis'],
    rows: [
      ['just begun, with its chat', ...grown(before, begun)],
      [`${tokens} events later, beside that`, ...grown(begun, said)],
    ],
    figures: {
      nodeBytesPerRunningTurn: (begun.heapUsed - before.heapUsed) / count,
      nodeBytesPerKeptEvent: (said.heapUsed - begun.heapUsed) / count / tokens,
      redisBytesPerChat: (begun.redis - before.redis) / count,
      redisBytesPerKeptEvent: (said.redis - begun.redis) / count / tokens,
    },
  };
}
