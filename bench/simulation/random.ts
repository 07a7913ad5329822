/** Numbers from 0 up to 1 that a seed decides (mulberry32): the same seed, the same run. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 up to `end`. */
export const below = (random: Random, end: number): number => Math.floor(random() * end);

/** How many come in a time in which `mean` come on average (Knuth; for small means). */
export function poisson(random: Random, mean: number): number {
  const floor = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > floor; product *= random()) count++;
  return count;
}
