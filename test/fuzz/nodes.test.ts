import { afterAll, beforeAll, describe, test } from 'vitest';
import { canMakeCluster, makeCluster, type Cluster } from '../../tools/postgres-cluster.mjs';
import { canMakeRedis } from '../../tools/redis-server.mjs';
import { KINDS, misfortunesOf, type Kind } from './misfortunes.js';
import { planOf } from './plan.js';
import { Random } from './random.js';
import { playRound } from './round.js';
import { ThreeNodes } from './three-nodes.js';
import { World } from './world.js';

/**
 * What fuzz.test.ts does, on three nodes that share a PostgreSQL and a Redis (LIF-4). In the first round nothing befalls
 * them; in each other one something does, in an order drawn from the seed: none comes again before each has come.
 *
 * FUZZ_SEED as in fuzz.test.ts. FUZZ_SECONDS: without it each misfortune comes once. FUZZ_MISFORTUNE: only rounds with this one.
 * One round alone: `FUZZ_SEED=… npm run fuzz -- nodes.test -t "round 3 "`.
 */

/** What a round takes, starting and checking included. */
const CALM_SECONDS = 12;
const ROUGH_SECONDS = 24;
const CALM_PLAN_SECONDS = 5;

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const only = KINDS.filter((kind) => kind === process.env['FUZZ_MISFORTUNE']);
const seconds = process.env['FUZZ_SECONDS'];
const rough =
  seconds === undefined
    ? (only.length > 0 ? only : KINDS).length
    : Math.max(1, Math.floor((Number(seconds) - CALM_SECONDS) / ROUGH_SECONDS));

/** The kinds in an order of the seed's, again and again. */
function kinds(): Kind[] {
  const random = Random.of(seed, 'misfortunes');
  const all: Kind[] = [];
  while (all.length < rough) {
    const left: Kind[] = only.length > 0 ? [...only] : [...KINDS];
    while (left.length > 0) all.push(...left.splice(random.between(0, left.length - 1), 1));
  }
  return all.slice(0, rough);
}

const lacks = [...(canMakeCluster() ? [] : ['initdb and pg_ctl']), ...(canMakeRedis() ? [] : ['redis-server'])];

describe.skipIf(lacks.length > 0)(`fuzz on three nodes, FUZZ_SEED=${seed}`, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await makeCluster();
    await cluster.start();
  }, 60_000);
  afterAll(() => cluster.remove());

  const rounds: readonly (Kind | null)[] = [...(only.length > 0 ? [] : [null]), ...kinds()];
  console.log(`FUZZ_SEED=${seed}, ${rounds.length} rounds on three nodes`);

  for (const [index, kind] of rounds.entries()) {
    const round = index + 1;
    const roundSeed = Math.floor(Random.of(seed, `nodes ${round}`).fraction() * 2 ** 31);
    test(
      `round ${round} with ${kind ?? 'nothing amiss'}: LIF-4, DAT-4, TRN-1, TRN-4, TRN-6, AGT-1, LIF-2, LIF-3`,
      { timeout: 300_000 },
      async () => {
        const drawn = kind
          ? misfortunesOf(Random.of(roundSeed, kind), kind)
          : { seconds: CALM_PLAN_SECONDS, misfortunes: [] };
        const plan = planOf(roundSeed, { ...drawn, isRough: kind !== null, weights: { lock: 0, end: 0 } });
        const world = new World(plan, new ThreeNodes(plan.env, cluster));
        await playRound(world, `FUZZ_SEED=${seed}, round ${round}, its own seed ${roundSeed}`);
      },
    );
  }
});

if (lacks.length > 0) console.log(`the fuzz on three nodes is left out: ${lacks.join(', ')} not found`);
