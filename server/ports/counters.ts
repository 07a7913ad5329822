interface CounterBounds {
  /** Tells it from others. */
  readonly name: string;
  /** How much it lets through. */
  readonly points: number;
  /** After which what was counted is forgotten. */
  readonly seconds: number;
}

/**
 * Makes counters of what callers have used up: for this process alone, or for all nodes together (LIF-4). What a counter is
 * comes from a library that this port does not know.
 *
 * Promises of one for all nodes (`test/contract/redis-counters.test.ts`):
 *
 * - Counters of one name are one counter, at whichever node, and however many count with it at once.
 * - While the service that they share is away, or says nothing, each node counts for itself: who comes then is let in rather
 *   than refused, and waits for one silence at most.
 */
export type Counters<Counter> = (bounds: CounterBounds) => Counter;
