import { Random } from '../random.js';
import type { Throws } from './effects.js';
import { LOSER } from './perform.js';
import { FAILS, HANGS, LOSES, treeOf, type Tree } from './tree.js';

export type Deed = 'stop' | 'cut' | 'replace' | 'lose' | 'kill';

export interface Disturbance {
  readonly do: Deed;
  /** When, as a part of what is still to come. */
  readonly after: number;
}

/** How rough a round is: everything in one process, some of it in agents, or in a server that is killed. */
export type Mode = 'in-process' | 'agents' | 'crashes';

export interface Plan {
  readonly seed: number;
  readonly mode: Mode;
  readonly tree: Tree;
  /** Assistants that an agent serves. */
  readonly remote: ReadonlySet<string>;
  readonly disturbances: readonly Disturbance[];
  readonly env: Readonly<Record<string, string>>;
}

const DEEDS: Readonly<Record<Mode, Readonly<Partial<Record<Deed, number>>>>> = {
  'in-process': { stop: 1 },
  agents: { stop: 2, cut: 2, replace: 2, lose: 0.5 },
  crashes: { stop: 1, cut: 1, replace: 1, kill: 4 },
};
/** How long an agent may be away. */
export const GRACE_MS = 400;

export function planOf(seed: number, mode: Mode): Plan {
  const tree = treeOf(seed);
  const random = Random.of(seed, 'plan');
  const all = [...tree.assistants.map(({ assistantId }) => assistantId), FAILS, LOSES, HANGS];
  const remote = mode === 'in-process' ? [] : all.filter(() => random.chance(mode === 'agents' ? 0.6 : 0.3));
  const weights = { ...DEEDS[mode], ...(remote.length === 0 ? { cut: 0, replace: 0, lose: 0 } : {}) };
  const disturbances = Array.from({ length: random.between(1, 4) }, () => ({
    do: random.weighted(weights as Record<Deed, number>),
    after: random.fraction(),
  }));
  const env = { COALESCE_MS: random.pick(['0', '5']), AGENT_GRACE_MS: String(GRACE_MS) };
  return { seed, mode, tree, remote: new Set(remote), disturbances, env };
}

/** Which nodes throw, of those that the undisturbed run has shown. */
export function throwsOf(seed: number, paths: readonly string[]): Throws {
  const random = Random.of(seed, 'throws');
  // What fails always fails already.
  const able = paths.filter((path) => !path.endsWith('/fails') && !path.includes(LOSER));
  const count = random.between(0, 3);
  const picked = Array.from({ length: count }, () => random.pick(able));
  return Object.fromEntries(
    picked.filter(Boolean).map((path) => [path, { times: random.between(1, 2), late: random.chance(0.5) }]),
  );
}
