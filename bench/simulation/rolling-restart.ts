import type { Costs } from '../capacity/costs.js';
import { Agenda } from './agenda.js';
import type { ClusterOptions } from './cluster-options.js';
import { below, randomOf, type Random } from './random.js';
import { Station } from './station.js';

/** How the balancer chooses the node of a new connection; of two that it picks at random, the one with fewer. */
export type Balancing = 'at random' | 'least connections' | 'better of two';

export interface RollingRestartOptions extends ClusterOptions {
  readonly balancing: Balancing;
  /** From the end of one node to the end of the next. */
  readonly stepSeconds: number;
  /** After `goaway`: clients come back from this on, spread over so much. */
  readonly retryAfterMs: number;
  readonly spreadMs: number;
}

export interface RollingRestartResult {
  readonly reconnects: number;
  /** How often a connection, and with it its chat, was moved. */
  readonly movesPerConnection: number;
  /** Connections of a node afterwards: the most and the least of the mean. */
  readonly most: number;
  readonly least: number;
  readonly takesPerSecond: number;
  /** The longest that anything waited for a node's core. */
  readonly nodeWaitSeconds: number;
  readonly seconds: number;
}

/** Nodes are restarted one after another; each is empty when it is back, and nobody moves a connection that stands. */
export function simulateRollingRestart(options: RollingRestartOptions, costs: Costs): RollingRestartResult {
  const agenda = new Agenda();
  const random = randomOf(options.seed);
  const stations = Array.from({ length: options.nodes }, () => new Station(agenda));
  const counts = new Int32Array(options.nodes);
  for (let connection = 0; connection < options.connections; connection++)
    counts[connection % options.nodes] = (counts[connection % options.nodes] ?? 0) + 1;
  let reconnects = 0;

  for (let step = 0; step < options.nodes; step++)
    agenda.at(step * options.stepSeconds * 1000, () => {
      const leaving = counts[step] ?? 0;
      counts[step] = 0;
      for (let index = 0; index < leaving; index++)
        agenda.after(options.retryAfterMs + random() * options.spreadMs, () => {
          // The node itself is back only after they are gone.
          const node = choose(options.balancing, counts, step, random);
          counts[node] = (counts[node] ?? 0) + 1;
          reconnects++;
          stations[node]?.work(
            costs.nodeMicrosPerConnect + costs.nodeMicrosPerSubscribe + costs.nodeMicrosPerTake,
            () => undefined,
          );
        });
    });
  agenda.run();

  const mean = options.connections / options.nodes;
  const seconds = options.nodes * options.stepSeconds;
  return {
    reconnects,
    movesPerConnection: reconnects / options.connections,
    most: Math.max(...counts) / mean,
    least: Math.min(...counts) / mean,
    takesPerSecond: (reconnects * options.chats) / options.connections / seconds,
    nodeWaitSeconds: Math.max(...stations.map(({ longestWaitMs }) => longestWaitMs)) / 1000,
    seconds,
  };
}

function choose(balancing: Balancing, counts: Int32Array, away: number, random: Random): number {
  const any = (): number => {
    const node = below(random, counts.length - 1);
    return node >= away ? node + 1 : node;
  };
  if (balancing === 'at random') return any();
  if (balancing === 'better of two') {
    const [one, other] = [any(), any()];
    return (counts[one] ?? 0) <= (counts[other] ?? 0) ? one : other;
  }
  let least = away === 0 ? 1 : 0;
  for (const [node, count] of counts.entries()) if (node !== away && count < (counts[least] ?? 0)) least = node;
  return least;
}
