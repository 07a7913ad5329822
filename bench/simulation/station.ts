import type { Agenda } from './agenda.js';

const MICROS_PER_MS = 1000;

/** Some cores that do one thing after another: a shard of Redis (one core), PostgreSQL (several), a node that is flooded. */
export class Station {
  busyMicros = 0;
  /** The longest that something has waited before it was begun, milliseconds. */
  longestWaitMs = 0;
  readonly #freeAt: number[];

  constructor(
    private readonly agenda: Agenda,
    cores = 1,
  ) {
    this.#freeAt = new Array<number>(cores).fill(0);
  }

  /** Does work of so many microseconds as soon as a core is free, and then what follows from it. */
  work(micros: number, done: () => void): void {
    const { now } = this.agenda;
    let core = 0;
    for (let other = 1; other < this.#freeAt.length; other++)
      if ((this.#freeAt[other] as number) < (this.#freeAt[core] as number)) core = other;
    const begins = Math.max(now, this.#freeAt[core] as number);
    const ends = begins + micros / MICROS_PER_MS;
    this.#freeAt[core] = ends;
    this.busyMicros += micros;
    this.longestWaitMs = Math.max(this.longestWaitMs, begins - now);
    this.agenda.at(ends, done);
  }

  /** Cores that were busy, of those there are, over the time that has passed. */
  utilisation(ms: number): number {
    return this.busyMicros / MICROS_PER_MS / ms / this.#freeAt.length;
  }
}

/**
 * A process with an event loop: what has come while it was busy is done together in its next turn. What that leads to happens
 * at the end of the turn.
 */
export class EventLoop {
  busyMicros = 0;
  #waiting: (() => number)[] = [];
  #isBusy = false;
  readonly #atEnd = new Set<() => void>();

  constructor(private readonly agenda: Agenda) {}

  /** @param task gives the microseconds that it takes */
  add(task: () => number): void {
    this.#waiting.push(task);
    if (!this.#isBusy) this.#turn();
  }

  /** Done once at the end of this turn of the loop, however often it is asked for. */
  atEnd(deed: () => void): void {
    this.#atEnd.add(deed);
  }

  utilisation(ms: number): number {
    return this.busyMicros / MICROS_PER_MS / ms;
  }

  #turn(): void {
    this.#isBusy = true;
    const tasks = this.#waiting;
    this.#waiting = [];
    let micros = 0;
    for (const task of tasks) micros += task();
    this.busyMicros += micros;
    this.agenda.after(micros / MICROS_PER_MS, () => {
      const deeds = [...this.#atEnd];
      this.#atEnd.clear();
      for (const deed of deeds) deed();
      this.#isBusy = false;
      if (this.#waiting.length > 0) this.#turn();
    });
  }
}
