import { Audience } from '../../load/audience.js';
import type { Scale } from '../../measure.js';
import { figure, type Table } from '../../report.js';
import { callsIn, flushesIn, type NodesUnderTest, type Spent } from '../../subjects/nodes.js';
import type { Subject } from '../../subjects/subject.js';
import { interleaved, middle, noiseOf, type Trial } from '../../trials.js';

/** Followers of each chat: at its owner, and at two other nodes. */
interface Contender {
  readonly name: string;
  readonly at: readonly [owner: number, second: number, third: number];
  readonly perSecond: number;
}

/** Slower than the window: each token is an event. */
const ONE_BY_ONE = 25;
const MANY = 10;
const contender = (name: string, at: Contender['at'], perSecond = ONE_BY_ONE): Contender => ({ name, at, perSecond });

const NONE = contender('no follower', [0, 0, 0]);
const JOINED = contender('no follower, six times as many tokens', [0, 0, 0], 6 * ONE_BY_ONE);
const ONE = contender('1 at the owner', [1, 0, 0]);
const SOME = contender(`${MANY} at the owner`, [MANY, 0, 0]);
const DOOR = contender('1 at a second node', [0, 1, 0]);
const SOME_DOOR = contender(`${MANY} at a second node`, [0, MANY, 0]);
const DOORS = contender('1 at a second, 1 at a third', [0, 1, 1]);
const CONTENDERS = [NONE, JOINED, ONE, SOME, DOOR, SOME_DOOR, DOORS];

type Streamed = Trial<{ readonly done: number; readonly spent: Spent }>;

/** What an event of a stream costs everywhere, and what each follower and each other node adds to it. */
export async function* deltas(nodes: NodesUnderTest, all: readonly Subject[], scale: Scale): AsyncIterable<Table> {
  // Few chats, whose flushes mostly come alone, and so many that nodes have several to send at a time.
  for (const chats of scale.isQuick ? [10] : [15, 150]) yield* streaming(chats, nodes, all, scale);
}

async function* streaming(
  chats: number,
  nodes: NodesUnderTest,
  [owner, ...others]: readonly Subject[],
  scale: Scale,
): AsyncIterable<Table> {
  if (!owner) throw new Error('there is no node');
  const audiences = new Map<Contender, Audience>();
  for (const [i, each] of CONTENDERS.entries()) {
    const ports = [owner, ...others].flatMap(({ port }, node) => new Array<number>(each.at[node] ?? 0).fill(port));
    const gathering = { prefix: `deltas-${chats}-${i}`, chats, perChat: ports.length, tokens: 'times', ports } as const;
    audiences.set(each, await Audience.gather(owner, 'turnstream', gathering));
  }
  const trials = await interleaved(CONTENDERS, scale, (each): Promise<Streamed> => {
    const audience = audiences.get(each) as Audience;
    audience.tally.clear();
    return nodes.trial(async () => {
      const pace = { chats: audience.chats, perSecond: each.perSecond, ms: 2 * scale.streamMs };
      const { appends } = await owner.call<{ appends: number }>('pace', pace);
      await audience.tally.expect((appends * audience.size) / chats, each.name, 60_000);
      return appends;
    });
  });
  for (const audience of audiences.values()) audience.close();

  const per = (each: Contender, of: (spent: Spent) => number): number =>
    middle(trials.get(each), ({ result: { spent } }) => of(spent) / flushesIn(spent));
  const node = (index: number) => (spent: Spent) => spent.nodeMicros[index] ?? Number.NaN;
  const redis = (spent: Spent): number => spent.redisMicros;
  const tokensPerEvent = middle(trials.get(JOINED), ({ result: { done, spent } }) => done / flushesIn(spent));

  yield {
    title: `${chats} chats at one node, each at ${ONE_BY_ONE} tokens/s: CPU of an event, µs, and what Redis does for it`,
    columns: [
      'followers of each chat',
      'owner',
      'second',
      'third',
      'Redis',
      'commands',
      'reads',
      'bytes in',
      'out',
      'kept',
    ],
    rows: CONTENDERS.map((each) => [
      each.name,
      ...[0, 1, 2].map((index) => figure(per(each, node(index)))),
      figure(per(each, redis)),
      figure(per(each, callsIn)),
      figure(per(each, ({ redisReads }) => redisReads)),
      figure(per(each, ({ redisIn }) => redisIn)),
      figure(per(each, ({ redisOut }) => redisOut)),
      figure(per(each, ({ redisMemory }) => redisMemory)),
    ]),
    noise: noiseOf(trials.values()),
  };

  const delivery = (per(SOME, node(0)) - per(ONE, node(0))) / (MANY - 1);
  const deliveryAway = (per(SOME_DOOR, node(1)) - per(DOOR, node(1))) / (MANY - 1);
  const figures = {
    nodeMicrosPerEvent: per(NONE, node(0)),
    nodeMicrosPerJoinedToken: (per(JOINED, node(0)) - per(NONE, node(0))) / (tokensPerEvent - 1),
    nodeMicrosPerDelivery: delivery,
    nodeMicrosPerDeliveryAway: deliveryAway,
    nodeMicrosPerMessageSent: per(DOOR, node(0)) - per(NONE, node(0)),
    nodeMicrosPerSecondMessageSent: per(DOORS, node(0)) - per(DOOR, node(0)),
    nodeMicrosPerMessageRead: per(DOOR, node(1)) - deliveryAway,
    redisMicrosPerRecord: per(NONE, redis),
    redisMicrosPerMessage: per(DOOR, redis) - per(NONE, redis),
    redisMicrosPerSecondMessage: per(DOORS, redis) - per(DOOR, redis),
    redisReceivedBytesPerRecord: per(NONE, ({ redisIn }) => redisIn),
    redisBytesPerMessage: per(DOOR, ({ redisOut }) => redisOut) - per(NONE, ({ redisOut }) => redisOut),
    redisBytesPerEvent: per(NONE, ({ redisMemory }) => redisMemory),
  };
  yield {
    title: `What each part adds, ${chats} chats`,
    columns: ['of an event', 'figure'],
    rows: [
      ['at the owner, before anybody gets it, µs', figure(figures.nodeMicrosPerEvent)],
      [`a further token in it (${figure(tokensPerEvent)} each), µs`, figure(figures.nodeMicrosPerJoinedToken)],
      ['a follower at the owner, µs', figure(delivery)],
      ['a follower at another node, µs', figure(deliveryAway)],
      ['the first other node, at the owner, µs', figure(figures.nodeMicrosPerMessageSent)],
      ['the second other node, at the owner, µs', figure(figures.nodeMicrosPerSecondMessageSent)],
      ['at another node, before anybody gets it, µs', figure(figures.nodeMicrosPerMessageRead)],
      ['Redis: its record, µs', figure(figures.redisMicrosPerRecord)],
      ['Redis: the first other node, µs', figure(figures.redisMicrosPerMessage)],
      ['Redis: the second other node, µs', figure(figures.redisMicrosPerSecondMessage)],
    ],
    figures,
  };
}
