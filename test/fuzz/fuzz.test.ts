import { describe, test } from 'vitest';
import { OneServer } from './one-server.js';
import { planOf } from './plan.js';
import { Random } from './random.js';
import { playRound } from './round.js';
import { World } from './world.js';

/**
 * Many people and agents do random things to a real server, in rounds: in every other one the server is killed and
 * stopped, too. What each round does is drawn from its seed; how the sockets interleave it is not, so a fault may need
 * some repetitions to come again.
 *
 * FUZZ_SEED: the seed of the run, drawn where it is not given. FUZZ_SECONDS: how long it lasts, about (60).
 * One round alone: `FUZZ_SEED=… npm run fuzz -- -t "round 3 "`.
 */

const ROUND_SECONDS = 6;
/** What a round costs beside its plan: starting, coming to rest, checking. */
const REST_SECONDS = 3;

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 60);
const rounds = Math.max(1, Math.floor(seconds / (ROUND_SECONDS + REST_SECONDS)));

describe(`fuzz, FUZZ_SEED=${seed}`, () => {
  console.log(`FUZZ_SEED=${seed}, ${rounds} rounds`);

  for (let round = 1; round <= rounds; round++) {
    const isRough = round % 2 === 0;
    const roundSeed = Math.floor(Random.of(seed, `round ${round}`).fraction() * 2 ** 31);

    test(
      `round ${round} ${isRough ? 'with crashes' : 'without crashes'}: DAT-4, TRN-1, TRN-4, TRN-6, AGT-1, LIF-2, LIF-3`,
      { timeout: 180_000 },
      async () => {
        const plan = planOf(roundSeed, {
          seconds: ROUND_SECONDS,
          isRough,
          weights: { lock: 1.5, end: isRough ? 1.6 : 0 },
        });
        const world = new World(plan, new OneServer(plan.env));
        await playRound(world, `FUZZ_SEED=${seed}, round ${round}, its own seed ${roundSeed}`);
      },
    );
  }
});
