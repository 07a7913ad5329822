import type { Random } from './random.js';
import { HELD_MS, LOST_MS } from './three-nodes.js';
import type { Misfortune, Which } from './topology.js';

/** What may befall several nodes in a round, by name. */
export const KINDS = ['kill', 'kill-all', 'terminate', 'stop', 'cut', 'redis', 'postgresql'] as const;
export type Kind = (typeof KINDS)[number];

interface Drawn {
  /** How long a round goes on, so that much is still done when it is over. */
  readonly seconds: number;
  readonly misfortunes: readonly { readonly atMs: number; readonly misfortune: Misfortune }[];
}

/** Until its leases are lost, and what was left in its chats is taken up. */
const SHORT_SECONDS = 9;
const LONG_SECONDS = 17;

export function misfortunesOf(random: Random, kind: Kind): Drawn {
  const first = random.between(700, 4_500);
  const which: Which = random.chance(0.6) ? 'busiest' : random.fraction();
  /** Too short for the others to give a node up, or long enough. */
  const isLong = random.chance(0.7);
  const awayMs = isLong ? random.between(LOST_MS, LOST_MS + 2_000) : random.between(300, HELD_MS);
  switch (kind) {
    case 'kill':
      return {
        seconds: LONG_SECONDS,
        misfortunes: [
          { atMs: first, misfortune: { do: 'nodeEnd', which, signal: 'SIGKILL', downMs: awayMs } },
          ...(random.chance(0.4) ? [another(random, first, 'SIGKILL')] : []),
        ],
      };
    case 'kill-all':
      return {
        seconds: LONG_SECONDS,
        misfortunes: [{ atMs: first, misfortune: { do: 'nodesKill', downMs: random.between(0, 1_500) } }],
      };
    case 'terminate':
      return {
        seconds: SHORT_SECONDS,
        misfortunes: [
          { atMs: first, misfortune: { do: 'nodeEnd', which, signal: 'SIGTERM', downMs: random.between(0, 2_000) } },
          ...(random.chance(0.6) ? [another(random, first, 'SIGTERM')] : []),
        ],
      };
    case 'stop':
      return {
        seconds: LONG_SECONDS,
        misfortunes: [{ atMs: first, misfortune: { do: 'nodeStop', which, ms: awayMs } }],
      };
    case 'cut':
      return {
        seconds: LONG_SECONDS,
        misfortunes: [{ atMs: first, misfortune: { do: 'redisCut', which, ms: awayMs } }],
      };
    case 'redis':
      return {
        seconds: LONG_SECONDS,
        misfortunes: [{ atMs: first, misfortune: { do: 'redisEmpty', downMs: random.between(0, 5_000) } }],
      };
    case 'postgresql':
      return {
        seconds: SHORT_SECONDS,
        misfortunes: [{ atMs: first, misfortune: { do: 'postgresStop', ms: random.between(500, 5_000) } }],
      };
  }
}

const another = (random: Random, first: number, signal: 'SIGKILL' | 'SIGTERM'): Drawn['misfortunes'][number] => ({
  atMs: first + random.between(200, 4_000),
  misfortune: { do: 'nodeEnd', which: random.fraction(), signal, downMs: random.between(0, 3_000) },
});
