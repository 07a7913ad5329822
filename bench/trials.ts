import { Neighbours, settle } from './machine.js';
import type { Scale } from './measure.js';
import { median } from './report.js';
import type { Subject } from './subjects/subject.js';

/** One repetition: what was done, and what it cost the server. */
export interface Trial<T> {
  readonly result: T;
  /** Processor time of the whole server process, kernel included. */
  readonly cpuMicros: number;
  readonly ms: number;
  /** Cores that others kept busy. */
  readonly neighbours: number;
}

export async function trial<T>(subject: Subject, work: () => Promise<T>): Promise<Trial<T>> {
  const neighbours = new Neighbours();
  const before = await subject.cpu();
  const began = performance.now();
  const result = await work();
  const ms = performance.now() - began;
  const cpuMicros = (await subject.cpu()) - before;
  return { result, cpuMicros, ms, neighbours: neighbours.cores(cpuMicros) };
}

/**
 * Repeats each contender in turn, so that a change of the machine's mood meets all of them; each round begins with another.
 */
export async function interleaved<C, T>(
  contenders: readonly C[],
  { repetitions, settleMs }: Scale,
  one: (contender: C) => Promise<Trial<T>>,
): Promise<Map<C, Trial<T>[]>> {
  const trials = new Map<C, Trial<T>[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < repetitions; round++) {
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[(i + round) % contenders.length] as C;
      await settle(settleMs);
      trials.get(contender)?.push(await one(contender));
    }
  }
  return trials;
}

/** The middle of some figure over the repetitions. */
export const middle = <T>(trials: readonly Trial<T>[] | undefined, of: (trial: Trial<T>) => number): number =>
  median((trials ?? []).map(of));

/** What a table says of the noise. */
export function noiseOf(trials: Iterable<readonly Trial<unknown>[]>): string {
  const all = [...trials].flat().map(({ neighbours }) => neighbours);
  if (all.some((cores) => Number.isNaN(cores))) return 'an unknown share of the machine';
  return `${median(all).toFixed(2)} cores (median of the repetitions), ${Math.max(...all).toFixed(2)} at worst`;
}
