import { many } from '../load/many.js';
import { Talk } from '../load/talk.js';
import type { Measure, Scale } from '../measure.js';
import { figure, times, type Table } from '../report.js';
import { metric } from '../subjects/metric.js';
import { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial } from '../trials.js';

/** How often turns write, and what it saves. */
export const writes: Measure = {
  name: 'writes',
  title: 'Write transactions',
  async *run(scale) {
    yield await perTurn(scale);
    yield await stored('NORMAL', scale.isQuick ? 16 : 256, scale);
    yield await stored('FULL', scale.isQuick ? 16 : 64, scale);
  },
};

/** Counted by the server itself. */
async function perTurn({ isQuick }: Scale): Promise<Table> {
  const subject = await Subject.start('Turnstream', 'turnstream');
  const turns = isQuick ? 10 : 50;
  const rows: string[][] = [];
  for (const chats of [1, 16]) {
    const talks = await many(chats, 16, (i) => Talk.begin(subject.port, 'turnstream', `writes-${chats}-${i}`));
    for (const talk of talks) await talk.turn('echo');
    const before = await transactions(subject);
    await Promise.all(
      talks.map(async (talk) => {
        for (let i = 0; i < turns; i++) await talk.turn('echo');
      }),
    );
    const written = (await transactions(subject)) - before;
    rows.push([
      chats === 1 ? 'one chat, turn after turn' : `${chats} chats at once`,
      figure(turns * chats),
      figure(written),
      figure(written / (turns * chats)),
    ]);
    for (const talk of talks) talk.close();
  }
  await subject.stop();
  return {
    title: 'Write transactions by /metrics',
    columns: ['turns', 'stored', 'write transactions', 'per turn'],
    rows,
  };
}

export const transactions = (subject: Subject): Promise<number> =>
  metric(subject, 'turnstream_store_transactions_total{kind="write"}');

const SINGLE = { name: 'a transaction per message and step (13)', command: 'single', group: 1 };
const PAIR = { name: 'two transactions', command: 'grouped', group: 1 };
const WAYS = [
  SINGLE,
  PAIR,
  { name: 'two per group of 4 turns', command: 'grouped', group: 4 },
  { name: 'two per group of 16 turns', command: 'grouped', group: 16 },
  { name: 'two per group of 64 turns', command: 'grouped', group: 64 },
];

async function stored(synchronous: 'NORMAL' | 'FULL', turns: number, scale: Scale): Promise<Table> {
  const subject = await Subject.start(`store, ${synchronous}`, 'store', { synchronous });
  for (const { command, group } of WAYS) await subject.call(command, { turns: turns / 4, group });
  const trials = await interleaved(WAYS, scale, ({ command, group }) =>
    trial(subject, () => subject.call(command, { turns, group })),
  );
  await subject.stop();
  const rate = (way: (typeof WAYS)[number]): number => middle(trials.get(way), ({ ms }) => (1000 * turns) / ms);
  const cost = (way: (typeof WAYS)[number]): number => middle(trials.get(way), ({ cpuMicros }) => cpuMicros / turns);
  return {
    title: `Turns of 7 messages and 5 steps stored by the SQLite store, synchronous=${synchronous}`,
    columns: ['way', 'turns/s', 'against 13 transactions', 'against two', 'CPU per turn, µs'],
    rows: WAYS.map((way) => [
      way.name,
      figure(rate(way)),
      times(rate(way) / rate(SINGLE)),
      times(rate(way) / rate(PAIR)),
      figure(cost(way)),
    ]),
    noise: noiseOf(trials.values()),
  };
}
