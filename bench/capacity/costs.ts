/** Where a figure comes from. What is argued is a bound that was reasoned out, and was not measured. */
type Source = 'quiet run' | 'shared machine' | 'argued';

interface Cost {
  readonly value: number;
  readonly source: Source;
  /** What was done for it. */
  readonly from: string;
}

const shared = (value: number, from: string): Cost => ({ value, source: 'shared machine', from });
const argued = (value: number, from: string): Cost => ({ value, source: 'argued', from });

const STREAMS = '400 chats at 50 tokens/s, two nodes, the assistant `echo` in the process';
const COUNTED = '1,000 chats of four nodes, created, followed, talked in';

/**
 * What one thing costs, each in the unit of its name; microseconds are processor time of one core, kernel included. Of a
 * node it is the whole process, of PostgreSQL the backends.
 */
export const COSTS = {
  /** An event at the chat's owner, before anybody gets it: op, place in the log, JSON, journal, record. */
  nodeMicrosPerEvent: shared(42, `${STREAMS}: less what turns and deliveries cost`),
  nodeMicrosPerDelivery: shared(8.2, `${STREAMS}: with a follower less without`),
  /** A message for another node: making it, at the owner. */
  nodeMicrosPerMessageSent: shared(0.4, `${STREAMS}: with a remote follower less without`),
  /** A message of another node: reading it, at the door. */
  nodeMicrosPerMessageRead: shared(6, `${STREAMS}: all that the door uses, less deliveries`),
  /** Sending or reading one entry of an inbox, however many messages it holds. */
  nodeMicrosPerEntry: shared(40, '20 chats at 25 tokens/s, whose tokens come one by one'),
  /** A turn from start to end, without its events. */
  nodeMicrosPerTurn: shared(2_900, '400 turns at once'),
  /** A connection from its handshake to its first answer, following nothing. */
  nodeMicrosPerConnect: shared(550, 'bench/README.md, storm: Turnstream less its subscription'),
  /** A following of a chat that this node owns. */
  nodeMicrosPerSubscribe: shared(1_330, COUNTED),
  /** A following of another node's chat: at the owner and at the door together, beyond one at its own node. */
  nodeMicrosPerSubscribeAway: shared(1_400, COUNTED),
  /** Taking a chat: lease, fence, record. */
  nodeMicrosPerTake: shared(1_100, COUNTED),
  /** An idle connection: its heartbeat every 25 s. */
  nodeMicrosPerConnectionSecond: argued(2, 'a frame each way in 25 s, at what a small command costs'),
  nodeBytesPerConnection: shared(20_000, 'bench/README.md, memory: an idle connection that follows a chat'),
  /** A chat in memory, its log not counted: that is bounded by `LOG_MAX_TOTAL_BYTES`. */
  nodeBytesPerChat: argued(8_000, 'a session, its row, its lease and record, a follower'),
  /** What the record's owner remembers of each batch that it wrote and Redis still holds. */
  nodeBytesPerRecordBatch: argued(56, 'an object of three numbers'),
  nodeBytesAlone: shared(170_000_000, 'a node of four that nobody used: resident memory'),

  /** What one commit adds to one chat's record: XADD, and PERSIST or PEXPIRE. */
  redisMicrosPerRecord: shared(4.3, `${STREAMS}: 130,043 records`),
  redisMicrosPerMessage: shared(1.1, `${STREAMS}: with a remote follower less without`),
  /** XADD and PEXPIRE by the sender. */
  redisMicrosPerEntry: shared(12, '20 chats at 25 tokens/s, one door'),
  /** XTRIM, PEXPIRE and XREAD by the reader, once for all entries that are there. */
  redisMicrosPerRead: shared(18, '20 chats at 25 tokens/s, one door'),
  /** A frame of a person: both counters of callers, a script each. */
  redisMicrosPerFrame: shared(13, `${COUNTED}: followings of own chats`),
  /** A script of the leases, of which a take needs two. */
  redisMicrosPerScript: shared(12, COUNTED),
  /** A field of the list of nodes, which each node reads every 3 s. */
  redisMicrosPerNodeListed: argued(0.3, 'a field of HGETALL'),
  redisReceivedBytesPerRecord: shared(477, STREAMS),
  /** The JSON of an event and what stands around it, in and out alike. */
  redisBytesPerMessage: shared(361, STREAMS),
  redisBytesPerFrame: shared(730, `${COUNTED}: the scripts are sent as text`),
  /** An event in a chat's record. */
  redisBytesPerEvent: shared(309, STREAMS),
  /** An owned chat without events: owner, place in the set of its node, and a record that holds nothing. */
  redisBytesPerChat: shared(4_700, `${COUNTED}: memory used after less before`),
  redisBytesAlone: argued(20_000_000, 'an empty Redis, its clients, counters of callers'),

  postgresMicrosPerTurn: shared(1_250, `${COUNTED}: both writes, and what is read for them`),
  postgresMicrosPerTake: shared(400, `${COUNTED}: half of what creating a chat costs`),
  postgresMicrosPerSubscribe: shared(580, COUNTED),
  /** Of two messages and a turn: rows and indexes, their texts not counted. */
  postgresBytesPerTurn: shared(2_000, '5,000 turns of two messages: table and index sizes'),
  /** Rows and indexes of a step without its content. */
  postgresBytesPerStep: argued(900, 'a row of 20 columns and six indexes'),
} as const satisfies Record<string, Cost>;

type CostName = keyof typeof COSTS;
export type Costs = Readonly<Record<CostName, number>>;

const figures = Object.entries(COSTS).map(([name, { value }]) => [name, value] as const);

/** The figures alone. `Object.fromEntries` forgets the names, which are those of the table. */
export const costs = Object.fromEntries(figures) as Costs;
