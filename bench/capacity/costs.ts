/** Where a figure comes from. What is argued is a bound that was reasoned out, and was not measured. */
type Source = 'quiet run' | 'shared machine' | 'argued';

interface Cost {
  readonly value: number;
  readonly source: Source;
  /** What was done for it. */
  readonly from: string;
}

const quiet = (value: number, from: string): Cost => ({ value, source: 'quiet run', from });
const shared = (value: number, from: string): Cost => ({ value, source: 'shared machine', from });
const argued = (value: number, from: string): Cost => ({ value, source: 'argued', from });

/** `npx tsx bench/main.ts nodes`; five events went out at a time, and with one other node 0.2 entries an event. */
const STREAMS = '150 chats at 25 tokens/s';
const CONNECTIONS = '2,000 connections that come and stay';
const ROWS = '2,400 turns in steps, table and index sizes';
const JOINED = '400 chats at 50 tokens/s, two nodes, the assistant `echo` in the process';
const COUNTED = '1,000 chats of four nodes, created, followed, talked in';

/**
 * What one thing costs, each in the unit of its name; microseconds are processor time of one core, kernel included. Of a
 * node it is the whole process, of PostgreSQL the backends.
 */
export const COSTS = {
  /** An event at the chat's owner, before anybody gets it: op, place in the log, JSON, journal, record. */
  nodeMicrosPerEvent: quiet(41, `${STREAMS}: without followers`),
  nodeMicrosPerDelivery: quiet(10.4, `${STREAMS}: ten followers less one, at the owner and at another node alike`),
  /** A message for another node: making it, at the owner. */
  nodeMicrosPerMessageSent: shared(0.4, `${JOINED}: with a remote follower less without`),
  /** A message of another node: reading it, at the door. */
  nodeMicrosPerMessageRead: shared(6, `${JOINED}: all that the door uses, less deliveries`),
  /** Sending or reading one entry of an inbox, however many messages it holds. */
  nodeMicrosPerEntry: quiet(70, `${STREAMS}: another node less none, 14 there and 20 here, less the messages`),
  /** A turn from start to end, without its events. */
  nodeMicrosPerTurn: quiet(2_670, '16 turns at once: 3,084 less their eight events and as many deliveries'),
  /** A connection from its handshake to its first answer, following nothing. */
  nodeMicrosPerConnect: quiet(730, CONNECTIONS),
  /** A following of a chat that this node owns. */
  nodeMicrosPerSubscribe: quiet(1_700, `${CONNECTIONS}: following a chat each less following none`),
  /** A following of another node's chat: at the owner and at the door together, beyond one at its own node. */
  nodeMicrosPerSubscribeAway: shared(1_400, COUNTED),
  /** Taking a chat: lease, fence, record. */
  nodeMicrosPerTake: shared(1_100, COUNTED),
  /** An idle connection: its heartbeat every 25 s. */
  nodeMicrosPerConnectionSecond: quiet(0.85, CONNECTIONS),
  nodeBytesPerConnection: quiet(20_700, `${CONNECTIONS}: heap of one that follows a chat`),
  /** A chat in memory, its log not counted: that is bounded by `LOG_MAX_TOTAL_BYTES`. */
  nodeBytesPerChat: argued(8_000, 'a session, its row, its lease and record, a follower'),
  /** What the record's owner remembers of each batch that it wrote and Redis still holds. */
  nodeBytesPerRecordBatch: argued(56, 'an object of three numbers'),
  nodeBytesAlone: shared(170_000_000, 'a node of four that nobody used: resident memory'),

  /** What one commit adds to one chat's record: XADD, and PERSIST or PEXPIRE. */
  redisMicrosPerRecord: quiet(7.9, `${STREAMS}: without followers`),
  redisMicrosPerMessage: quiet(1.8, '15 chats, each message in an entry of its own, and 150, five to an entry'),
  /** XADD and PEXPIRE by the sender. */
  redisMicrosPerEntry: quiet(16, 'the same, and what sending an entry is of it on the shared machine'),
  /** XTRIM, PEXPIRE and XREAD by the reader, once for all entries that are there. */
  redisMicrosPerRead: quiet(24, 'the same, and what reading is of it on the shared machine'),
  /** A frame of a person: both counters of callers, a script each. */
  redisMicrosPerFrame: shared(13, `${COUNTED}: followings of own chats`),
  /** A script of the leases, of which a take needs two. */
  redisMicrosPerScript: shared(12, COUNTED),
  /** A field of the list of nodes, which each node reads every 3 s. */
  redisMicrosPerNodeListed: argued(0.3, 'a field of HGETALL'),
  redisReceivedBytesPerRecord: quiet(471, STREAMS),
  /** The JSON of an event and what stands around it, on its way in; out again it is less, 404. */
  redisBytesPerMessage: quiet(477, `${STREAMS}: one other node less none`),
  redisBytesPerFrame: shared(730, `${COUNTED}: the scripts are sent as text`),
  /** An event in a chat's record. */
  redisBytesPerEvent: quiet(336, STREAMS),
  /** An owned chat without events: owner, place in the set of its node, and a record that holds nothing. */
  redisBytesPerChat: quiet(4_500, '1,000 turns just begun, each in a chat of its own'),
  redisBytesAlone: argued(20_000_000, 'an empty Redis, its clients, counters of callers'),

  postgresMicrosPerTurn: quiet(1_031, '16 turns at once: both writes, and what is read for them'),
  postgresMicrosPerTake: shared(400, `${COUNTED}: half of what creating a chat costs`),
  postgresMicrosPerSubscribe: quiet(740, `${CONNECTIONS}: following a chat each less following none`),
  /** Of two messages and a turn: rows and indexes, their texts not counted. */
  postgresBytesPerTurn: quiet(1_790, `${ROWS}: 689 of a turn, 652 of each message, less their texts`),
  /** Rows and indexes of a step without its content. */
  postgresBytesPerStep: quiet(534, ROWS),
} as const satisfies Record<string, Cost>;

type CostName = keyof typeof COSTS;
export type Costs = Readonly<Record<CostName, number>>;

const figures = Object.entries(COSTS).map(([name, { value }]) => [name, value] as const);

/** The figures alone. `Object.fromEntries` forgets the names, which are those of the table. */
export const costs = Object.fromEntries(figures) as Costs;
