/**
 * The one source of chance of a fuzz run (mulberry32): the same seed gives the same draws. Every part that draws has a
 * source of its own, so that what one part draws does not depend on how far the others have come.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The source of a part of a run, by the part's name (FNV-1a of the name over the seed). */
  static of(seed: number, name: string): Random {
    let hash = (seed ^ 0x811c9dc5) >>> 0;
    for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) as number), 0x01000193) >>> 0;
    return new Random(hash);
  }

  /** From 0 up to, but not, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T;
  }

  /** One of the keys, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries[0] as [K, number])[0];
  }
}

/** What a plan drew before anybody knew among how many it would choose. */
export const chosen = <T>(list: readonly T[], fraction: number): T | undefined =>
  list[Math.floor(fraction * list.length)];
