import { expect } from 'vitest';
import { Deeds } from './deeds.js';
import { checkInvariants } from './invariants.js';
import type { Moment } from './plan.js';
import type { World } from './world.js';

/** So long everything may take to come to rest after the last deed, in times of what comes by itself. */
const REST_FACTOR = 3;

/** Of what the servers said, shown where something did not fit. */
const LINES_SHOWN = 40;

/** Plays a round and checks what must hold in and after it. @param name with what it can be played again */
export async function playRound(world: World, name: string): Promise<void> {
  try {
    await play(world);
    if (world.faults.length === 0) await checkInvariants(world);
  } catch (error) {
    world.fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  if (world.faults.length > 0) {
    const said = world.topology.output.split('\n').slice(-LINES_SHOWN).join('\n');
    console.log(`${name}; the last operations:\n${world.lastOperations}\nand what was said:\n${said}`);
  }
  expect(world.faults.slice(0, 5)).toEqual([]);
}

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
    const timer = setTimeout(
      () => reject(new Error(`no rest: ${JSON.stringify([...running.keys()])}`)),
      REST_FACTOR * world.patienceMs,
    );
    void resting.finally(() => clearTimeout(timer));
  });
  await Promise.race([resting, late]);
}
