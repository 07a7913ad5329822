import type { Costs } from '../capacity/costs.js';
import { quantile } from '../report.js';
import { Agenda } from './agenda.js';
import { ChatModel, NodeModel, type Clockwork } from './node-model.js';
import { below, poisson, randomOf, type Random } from './random.js';
import { Station } from './station.js';

export interface StreamsOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Chats in which a turn runs all the time. */
  readonly chats: number;
  readonly tokensPerSecond: number;
  readonly coalesceMs: number;
  /** On average; each chat has one at least. */
  readonly followersPerChat: number;
  /** Of chats: those whose first follower has come back at another node since the chat was taken. */
  readonly driftShare: number;
  readonly redisShards: number;
  readonly roundTripMs: number;
  /** Followers of the first chat instead; all nodes are its doors. */
  readonly followersOfOne?: number;
  /** All chats are owned by the first node instead, and have a follower there and one at each of so many others. */
  readonly doorsOfAll?: number;
  /** Measured after a second of warming up. */
  readonly seconds: number;
}

export interface StreamsResult {
  readonly events: number;
  readonly deliveries: number;
  readonly messages: number;
  readonly entries: number;
  readonly reads: number;
  readonly records: number;
  readonly tokens: number;
  readonly doorsPerChat: number;
  /** Ordered pairs of nodes of which one has sent the other something. */
  readonly pairs: number;
  readonly nodeUtilisation: { readonly mean: number; readonly max: number };
  readonly redisUtilisation: { readonly mean: number; readonly max: number };
  /** Milliseconds from a token's due time until followers have it, at the owner's node and elsewhere. */
  readonly delayMs: Readonly<Record<'near' | 'away', Readonly<Record<'p50' | 'p99' | 'max', number>>>>;
}

const WARM_MS = 1_000;
const JITTER = 0.2;

/** A cluster that streams: each token from the assistant to all who follow, through the loops and queues that the code has. */
export function simulateStreams(options: StreamsOptions, costs: Costs): StreamsResult {
  const agenda = new Agenda();
  const random = randomOf(options.seed);
  const shards = Array.from({ length: options.redisShards }, () => new Station(agenda));
  const counts = { events: 0, deliveries: 0, messages: 0, entries: 0, reads: 0, records: 0, tokens: 0 };
  const delays = { near: [] as number[], away: [] as number[] };
  const pairs = new Set<number>();
  const clockwork: Clockwork = { agenda, shards, costs, counts, delays, pairs, ...options };
  const nodes = Array.from({ length: options.nodes }, (_, index) => new NodeModel(index, clockwork));
  const chats = Array.from({ length: options.chats }, (_, index) => chatOf(index, nodes, options, random));
  for (const chat of chats) stream(chat, options, agenda, random);

  agenda.run(WARM_MS);
  const before = { ...counts };
  const busy = [...nodes.map(({ loop }) => loop), ...shards].map(({ busyMicros }) => busyMicros);
  delays.near.length = delays.away.length = 0;
  agenda.run(WARM_MS + options.seconds * 1000);

  const shares = [...nodes.map(({ loop }) => loop), ...shards].map(
    ({ busyMicros }, index) => (busyMicros - (busy[index] ?? 0)) / 1e6 / options.seconds,
  );
  const perSecond = (name: keyof typeof counts): number => (counts[name] - before[name]) / options.seconds;
  return {
    ...{ events: perSecond('events'), deliveries: perSecond('deliveries'), messages: perSecond('messages') },
    ...{ entries: perSecond('entries'), reads: perSecond('reads'), records: perSecond('records') },
    tokens: perSecond('tokens'),
    doorsPerChat: chats.reduce((sum, { doors }) => sum + doors.size, 0) / chats.length,
    pairs: pairs.size,
    nodeUtilisation: meanAndMax(shares.slice(0, nodes.length)),
    redisUtilisation: meanAndMax(shares.slice(nodes.length)),
    delayMs: { near: percentiles(delays.near), away: percentiles(delays.away) },
  };
}

/** Owned where its first follower came in, unless that one has moved since; others come in anywhere. */
function chatOf(index: number, nodes: readonly NodeModel[], options: StreamsOptions, random: Random): ChatModel {
  const { doorsOfAll } = options;
  if (doorsOfAll !== undefined) {
    const [first, ...others] = nodes as [NodeModel, ...NodeModel[]];
    return new ChatModel(first, 1, new Map(others.slice(0, doorsOfAll).map((node) => [node, 1])), 0);
  }
  const anyNode = (): NodeModel => nodes[below(random, nodes.length)] as NodeModel;
  const owner = anyNode();
  const crowd = index === 0 ? options.followersOfOne : undefined;
  const followers = crowd ?? 1 + poisson(random, options.followersPerChat - 1);
  const doors = new Map<NodeModel, number>();
  let near = 0;
  for (let follower = 0; follower < followers; follower++) {
    const stays = crowd === undefined && follower === 0 && random() >= options.driftShare;
    const node = stays ? owner : anyNode();
    if (node === owner) near++;
    else doors.set(node, (doors.get(node) ?? 0) + 1);
  }
  return new ChatModel(owner, near, doors, below(random, options.redisShards));
}

/** Tokens at a pace, never quite even. */
function stream(chat: ChatModel, { tokensPerSecond }: StreamsOptions, agenda: Agenda, random: Random): void {
  const gapMs = 1000 / tokensPerSecond;
  const next = (): void => {
    chat.owner.token(chat);
    agenda.after(gapMs * (1 + JITTER * (2 * random() - 1)), next);
  };
  agenda.at(random() * gapMs, next);
}

function meanAndMax(values: readonly number[]): { mean: number; max: number } {
  return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, max: Math.max(...values) };
}

const percentiles = (values: readonly number[]) => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  max: quantile(values, 1),
});
