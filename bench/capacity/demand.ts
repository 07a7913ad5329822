import type { Costs } from './costs.js';
import { eventsPerStream, EVENTS_AROUND_A_TURN, ratesOf, type Rates } from './rates.js';
import type { Workload } from './workload.js';

/** What the work of a second needs. Cores are those that it keeps busy. */
export interface Demand {
  readonly nodeCores: number;
  /** Of one node, with its share of everything. */
  readonly nodeBytes: number;
  readonly redisCores: number;
  readonly redisBytes: number;
  readonly redisReceivedBytesPerSecond: number;
  readonly redisSentBytesPerSecond: number;
  /** Of all its Redis work: leases and counters, which no second Redis takes over. */
  readonly redisCoresUndivided: number;
  readonly postgresCores: number;
  readonly postgresConnections: number;
  readonly writesPerSecond: number;
  readonly diskBytesPerDay: number;
  readonly diskBytes: number;
  /** Until a table has given all ids of 32 bits. */
  readonly daysOfIds: number;
}

const DAY_SECONDS = 86_400;
const BEAT_SECONDS = 3;
const LOOK_SECONDS = 3;
const IDS = 2 ** 31;
const MESSAGES_PER_TURN = 2;
const WRITES_PER_TURN = 2;
/** Beside its pools, a node holds a connection for its claim. */
const CLAIMS = 1;

export function demandOf(workload: Workload, costs: Costs, nodes: number): Demand {
  const rates = ratesOf(workload, nodes);
  const isCluster = nodes > 1;
  const messagesPerDay = rates.turns * DAY_SECONDS * MESSAGES_PER_TURN;
  const stepsPerDay = rates.turns * DAY_SECONDS * workload.stepsPerTurn;
  const diskBytesPerDay = rates.turns * DAY_SECONDS * bytesPerTurn(workload, costs);
  return {
    nodeCores: nodeMicros(rates, workload, costs, nodes) / 1e6,
    nodeBytes: nodeBytes(rates, workload, costs, nodes),
    ...(isCluster ? redisDemand(rates, workload, costs, nodes) : NO_REDIS),
    postgresCores:
      (rates.turns * costs.postgresMicrosPerTurn +
        rates.subscribes * costs.postgresMicrosPerSubscribe +
        (isCluster ? rates.takes * costs.postgresMicrosPerTake : 0)) /
      1e6,
    postgresConnections: nodes * (workload.databaseConnections + CLAIMS),
    writesPerSecond: rates.turns * WRITES_PER_TURN + (isCluster ? rates.takes : 0),
    diskBytesPerDay,
    diskBytes: diskBytesPerDay * workload.daysKept,
    daysOfIds: IDS / Math.max(messagesPerDay, stepsPerDay, 1e-9),
  };
}

/** Rows, indexes and texts of a turn. */
export function bytesPerTurn(workload: Workload, costs: Costs): number {
  const { stepsPerTurn, charactersPerStep, charactersPerQuestion, tokensPerAnswer, charactersPerToken } = workload;
  const texts = charactersPerQuestion + tokensPerAnswer * charactersPerToken;
  return costs.postgresBytesPerTurn + texts + stepsPerTurn * (costs.postgresBytesPerStep + charactersPerStep);
}

function nodeMicros(rates: Rates, workload: Workload, costs: Costs, nodes: number): number {
  const alone =
    rates.events * costs.nodeMicrosPerEvent +
    rates.deliveries * costs.nodeMicrosPerDelivery +
    rates.turns * costs.nodeMicrosPerTurn +
    rates.connects * costs.nodeMicrosPerConnect +
    rates.subscribes * costs.nodeMicrosPerSubscribe +
    workload.connections * costs.nodeMicrosPerConnectionSecond;
  if (nodes === 1) return alone;
  return (
    alone +
    rates.messages * (costs.nodeMicrosPerMessageSent + costs.nodeMicrosPerMessageRead) +
    (rates.entries + rates.reads) * costs.nodeMicrosPerEntry +
    rates.takes * costs.nodeMicrosPerTake +
    rates.subscribes * workload.remoteShare * costs.nodeMicrosPerSubscribeAway
  );
}

function nodeBytes(rates: Rates, workload: Workload, costs: Costs, nodes: number): number {
  const { batches } = recorded(rates, workload);
  const shared =
    workload.connections * costs.nodeBytesPerConnection +
    rates.ownedChats * costs.nodeBytesPerChat +
    batches * (nodes > 1 ? costs.nodeBytesPerRecordBatch : 0);
  return costs.nodeBytesAlone + workload.logMaxTotalBytes + shared / nodes;
}

/** Batches in the records of chats that have not been silent for as long as records live. */
function recorded({ turns }: Rates, workload: Workload): { readonly batches: number } {
  const { tokensPerAnswer, tokensPerSecond, logTtlSeconds } = workload;
  const turnSeconds = tokensPerAnswer / tokensPerSecond;
  const perTurn = turnSeconds * eventsPerStream(workload) + EVENTS_AROUND_A_TURN;
  return { batches: turns * (logTtlSeconds + turnSeconds / 2) * perTurn };
}

const NO_REDIS = {
  redisCores: 0,
  redisBytes: 0,
  redisReceivedBytesPerSecond: 0,
  redisSentBytesPerSecond: 0,
  redisCoresUndivided: 0,
};

function redisDemand(rates: Rates, workload: Workload, costs: Costs, nodes: number) {
  const scripts = rates.takes * 2 + rates.subscribes + nodes / BEAT_SECONDS;
  const listed = (nodes * nodes) / LOOK_SECONDS;
  const undivided =
    scripts * costs.redisMicrosPerScript +
    listed * costs.redisMicrosPerNodeListed +
    rates.frames * costs.redisMicrosPerFrame;
  const divided =
    rates.events * costs.redisMicrosPerRecord +
    rates.messages * costs.redisMicrosPerMessage +
    rates.entries * costs.redisMicrosPerEntry +
    rates.reads * costs.redisMicrosPerRead;
  return {
    redisCores: (undivided + divided) / 1e6,
    redisCoresUndivided: undivided / 1e6,
    redisBytes:
      costs.redisBytesAlone +
      rates.ownedChats * costs.redisBytesPerChat +
      recorded(rates, workload).batches * costs.redisBytesPerEvent,
    redisReceivedBytesPerSecond:
      rates.events * costs.redisReceivedBytesPerRecord +
      rates.messages * costs.redisBytesPerMessage +
      rates.frames * costs.redisBytesPerFrame,
    redisSentBytesPerSecond: rates.messages * costs.redisBytesPerMessage,
  };
}
