import { describe, expect, test } from 'vitest';
import { Deeds } from './deeds.js';
import { checkInvariants } from './invariants.js';
import { planOf, type Moment } from './plan.js';
import { Random } from './random.js';
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
        const world = new World(planOf(roundSeed, { seconds: ROUND_SECONDS, isRough }));
        try {
          await play(world);
          if (world.faults.length === 0) await checkInvariants(world);
        } catch (error) {
          world.fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
        }
        if (world.faults.length > 0) {
          console.log(
            `FUZZ_SEED=${seed}, round ${round}, its own seed ${roundSeed}; the last operations:\n${world.lastOperations}`,
          );
        }
        expect(world.faults.slice(0, 5)).toEqual([]);
      },
    );
  }
});

/** So long everything may take to come to rest after the last deed. */
const REST_MS = 60_000;

async function play(world: World): Promise<void> {
  await world.begin();
  const deeds = new Deeds(world);
  const running = new Map<Moment, Promise<unknown>>();
  const began = performance.now();
  for (const moment of world.plan.moments) {
    const waitMs = moment.atMs - (performance.now() - began);
    if (waitMs > 0) await world.pause(waitMs);
    if (world.faults.length > 0) break;
    const done = deeds.perform(moment).catch((error: unknown) => world.fault(String(error)));
    running.set(
      moment,
      done.finally(() => running.delete(moment)),
    );
  }
  const resting = world
    .heal()
    .then(() => Promise.all(running.values()))
    .then(() => world.heal());
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no rest: ${JSON.stringify([...running.keys()])}`)), REST_MS);
    void resting.finally(() => clearTimeout(timer));
  });
  await Promise.race([resting, late]);
}
