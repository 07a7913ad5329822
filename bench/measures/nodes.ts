import type { Measure, Scale } from '../measure.js';
import type { Table } from '../report.js';
import { NodesUnderTest } from '../subjects/nodes.js';
import type { Subject } from '../subjects/subject.js';
import { connections, runningTurns } from './nodes/connections.js';
import { deltas } from './nodes/deltas.js';
import { roundTrips } from './nodes/round-trips.js';
import { rowSizes } from './nodes/rows.js';
import { takeover } from './nodes/takeover.js';
import { wholeTurns } from './nodes/turns.js';

/** What a capacity model of several nodes needs to know, in CPU time of every process. */
export const nodes: Measure = {
  name: 'nodes',
  title: 'Several nodes: what each part costs each process',
  async *run(scale) {
    if (!NodesUnderTest.canStart()) {
      console.log('There is no `initdb` or no `redis-server` on this machine.\n');
      return;
    }
    for (const part of PARTS) yield* part(scale);
  },
};

type Part = (scale: Scale) => AsyncIterable<Table>;

/** Each has nodes of its own: those that were used before are not those of a measure of memory. */
const PARTS: readonly Part[] = [
  (scale) => among(2, (stage, nodes) => connections(stage, nodes, scale)),
  (scale) => among(1, (stage, nodes) => one(runningTurns(stage, nodes, scale))),
  (scale) =>
    among(3, async function* (stage, nodes) {
      yield* deltas(stage, nodes, scale);
      yield await roundTrips(stage, nodes, scale);
    }),
  (scale) =>
    among(2, async function* (stage, nodes) {
      const alone = await stage.node('a node of its own', { isAlone: true });
      yield await wholeTurns(stage, nodes, alone, scale);
    }),
  (scale) =>
    among(0, async function* (stage) {
      const alone = await stage.node('a node of its own', { isAlone: true });
      yield await rowSizes(stage, alone, scale);
    }),
  (scale) =>
    among(1, async function* (stage, [left]) {
      if (left) yield await takeover(stage, left, scale);
    }),
];

async function* one(table: Promise<Table>): AsyncIterable<Table> {
  yield await table;
}

async function* among(
  count: number,
  measured: (stage: NodesUnderTest, nodes: readonly Subject[]) => AsyncIterable<Table>,
): AsyncIterable<Table> {
  const stage = await NodesUnderTest.start();
  try {
    const nodes: Subject[] = [];
    for (let i = 0; i < count; i++) nodes.push(await stage.node(`node ${i + 1}`));
    yield* measured(stage, nodes);
  } finally {
    await stage.stop();
  }
}
