/** What happens when, in the time of the simulation: milliseconds from its start. At the same time, what was added first. */
export class Agenda {
  now = 0;
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #deeds: (() => void)[] = [];
  #added = 0;

  /** @param ms not before now */
  at(ms: number, deed: () => void): void {
    if (ms < this.now) throw new Error(`${ms} ms is over: it is ${this.now}`);
    const order = this.#added++;
    let place = this.#times.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#isBefore(ms, order, parent)) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#put(place, ms, order, deed);
  }

  after(ms: number, deed: () => void): void {
    this.at(this.now + ms, deed);
  }

  /** Lets time pass until `ms`, or until nothing is to come. */
  run(ms = Infinity): void {
    for (let next = this.#times[0]; next !== undefined && next <= ms; next = this.#times[0]) {
      this.now = next;
      this.#take()();
    }
    if (ms !== Infinity) this.now = Math.max(this.now, ms);
  }

  #take(): () => void {
    const first = this.#deeds[0] as () => void;
    const ms = this.#times.pop() as number;
    const order = this.#orders.pop() as number;
    const deed = this.#deeds.pop() as () => void;
    const size = this.#times.length;
    if (size === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (
        child + 1 < size &&
        this.#isBefore(this.#times[child + 1] as number, this.#orders[child + 1] as number, child)
      )
        child++;
      if (this.#isBefore(ms, order, child)) break;
      this.#move(child, place);
      place = child;
    }
    this.#put(place, ms, order, deed);
    return first;
  }

  #isBefore(ms: number, order: number, place: number): boolean {
    const other = this.#times[place] as number;
    return ms < other || (ms === other && order < (this.#orders[place] as number));
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from] as number, this.#orders[from] as number, this.#deeds[from] as () => void);
  }

  #put(place: number, ms: number, order: number, deed: () => void): void {
    this.#times[place] = ms;
    this.#orders[place] = order;
    this.#deeds[place] = deed;
  }
}
