import { SocketIoClient } from '../load/socketio-client.js';
import { costs } from '../capacity/costs.js';
import { pause, pinLoad } from '../machine.js';
import { figure, format } from '../report.js';
import { metric } from '../subjects/metric.js';
import { callsIn, NodesUnderTest } from '../subjects/nodes.js';
import type { Subject } from '../subjects/subject.js';
import { simulateStreams } from './streams.js';

const NODES = 3;
const WORDS = 100;
const IDLE_MS = 12_000;

interface Case {
  readonly name: string;
  readonly chats: number;
  readonly delayMs: number;
  /** How many of the other nodes follow each chat. */
  readonly doors: number;
}

const CASES: readonly Case[] = [
  { name: '1 chat, 2 doors, 50 tokens/s', chats: 1, delayMs: 20, doors: 2 },
  { name: '20 chats, no door, 50 tokens/s', chats: 20, delayMs: 20, doors: 0 },
  { name: '20 chats, 1 door, 50 tokens/s', chats: 20, delayMs: 20, doors: 1 },
  { name: '20 chats, 1 door, 25 tokens/s', chats: 20, delayMs: 40, doors: 1 },
  { name: '200 chats, 2 doors, 50 tokens/s', chats: 200, delayMs: 20, doors: 2 },
];

interface Counts {
  readonly eventsPerToken: number;
  readonly recordsPerEvent: number;
  readonly entriesPerMessage: number;
  readonly readsPerEntry: number;
}

/**
 * Streams through a few real nodes, counts what Redis is asked, and sets it beside what the simulation says.
 *
 * @throws {Error} where the machine has no `initdb` or no `redis-server`
 */
export async function printReal(): Promise<void> {
  if (!NodesUnderTest.canStart()) throw new Error('real: there is no `initdb` or no `redis-server` on this machine');
  pinLoad();
  const nodes = await NodesUnderTest.start();
  const rows: string[][] = [];
  try {
    const all: Subject[] = [];
    for (let i = 1; i <= NODES; i++) all.push(await nodes.node(`node ${i}`));
    const { result: idle, ms } = await nodes.trial(() => pause(IDLE_MS));
    const perSecond = (1000 * callsIn(idle.spent)) / ms / NODES;
    console.log(`An idle node sends Redis ${figure(perSecond)} commands a second, those within scripts included.\n`);
    for (const [index, given] of CASES.entries()) {
      const [real, model] = [await realCounts(nodes, all, `case-${index}`, given), modelCounts(given)];
      const cells = (Object.keys(real) as (keyof Counts)[]).map(
        (key) => `${figure(real[key])} / ${figure(model[key])}`,
      );
      rows.push([given.name, ...cells]);
    }
    const records = await nodes.redis.keys('record:');
    console.log(`Records in Redis: ${records.count}, of which ${records.forEver} never expire.\n`);
  } finally {
    await nodes.stop();
  }
  const columns = ['real / simulated', 'events a token', 'records an event', 'entries a message', 'reads an entry'];
  console.log(format({ title: `${NODES} nodes, ${WORDS} tokens a turn`, columns, rows }));
}

async function realCounts(
  nodes: NodesUnderTest,
  all: readonly Subject[],
  name: string,
  { chats, delayMs, doors }: Case,
): Promise<Counts> {
  const chatIds = Array.from({ length: chats }, (_, index) => `${name}-${index}`);
  const connections: SocketIoClient[] = [];
  for (const { port } of all.slice(0, 1 + doors)) {
    const connection = new SocketIoClient({ port });
    await connection.greeted;
    connections.push(connection);
  }
  const [owner] = connections;
  if (!owner) throw new Error('no node');
  for (const chatId of chatIds) await owner.do('chat:create', { chatId, assistantId: 'echo' });
  for (const connection of connections) for (const chatId of chatIds) await connection.do('chat:subscribe', { chatId });
  // Until what followings have cost is over: senders say their counts within three seconds.
  await pause(4_000);

  const input = Array.from({ length: WORDS }, (_, index) => `word${index}`).join(' ');
  const eventsBefore = await eventsOf(all);
  const entriesBefore = await nodes.redis.entries('inbox:');
  const { result } = await nodes.trial(async () => {
    const started = chatIds.map(async (chatId, index) => {
      // Else all chats would speak at the same moments.
      await pause((index * delayMs) / chats);
      await owner.do('turn:start', { chatId, input, metadata: { delayMs } });
    });
    await Promise.all(started);
    await pause(WORDS * (delayMs + 2) + 2_000);
  });
  const events = (await eventsOf(all)) - eventsBefore;
  const entries = (await nodes.redis.entries('inbox:')) - entriesBefore;
  for (const connection of connections) connection.close();
  const of = (command: string): number => result.spent.redisCalls.get(command) ?? 0;
  const records = of('xadd') - entries;
  return {
    eventsPerToken: events / (chats * WORDS),
    recordsPerEvent: records / events,
    entriesPerMessage: doors === 0 ? Number.NaN : entries / (events * doors),
    readsPerEntry: entries === 0 ? Number.NaN : of('xread') / entries,
  };
}

/** Events of all chats so far, whichever node owns them. */
async function eventsOf(nodes: readonly Subject[]): Promise<number> {
  const events = await Promise.all(nodes.map((node) => metric(node, 'turnstream_events_total')));
  return events.reduce((sum, count) => sum + (Number.isNaN(count) ? 0 : count), 0);
}

/** The same in the model: all chats owned by one node of several, followed at each door. */
function modelCounts({ chats, delayMs, doors }: Case): Counts {
  const { tokens, events, records, messages, entries, reads } = simulateStreams(
    {
      ...{ seed: 1, nodes: NODES, chats, coalesceMs: 33, followersPerChat: 1, driftShare: 0, redisShards: 1 },
      ...{ tokensPerSecond: 1000 / (delayMs + TIMER_MS), roundTripMs: 0.3, seconds: 10, doorsOfAll: doors },
    },
    costs,
  );
  return {
    eventsPerToken: events / tokens,
    recordsPerEvent: records / events,
    entriesPerMessage: entries / messages,
    readsPerEntry: reads / entries,
  };
}

/** A timer is late by about so much. */
const TIMER_MS = 1;
