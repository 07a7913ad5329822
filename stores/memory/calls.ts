/** Where a call is asked for, and where its results stand. */
interface Call {
  readonly asked: Places;
  readonly given: Places;
}

/** The calls of a conversation, by the places of its messages. What has lost its other half is told once. */
export class Calls {
  readonly #calls = new Map<string, Call>();

  /** Messages come in their order. */
  add(index: number, asked: readonly string[], given: readonly string[]): void {
    for (const id of asked) this.#call(id).asked.add(index);
    for (const id of given) this.#call(id).given.add(index);
  }

  /** Places of results that no call stands before, and of calls that no result stands behind. */
  *halves(isLeftOut: (index: number) => boolean, ids: Iterable<string> = this.#calls.keys()): Generator<number> {
    for (const id of ids) {
      const { asked, given } = this.#call(id);
      while (isLeftOut(asked.first)) asked.dropFirst();
      while (isLeftOut(given.last)) given.dropLast();
      while (given.first <= asked.first && given.first < Infinity) yield given.dropFirst();
      while (asked.last >= given.last && asked.last > -Infinity) yield asked.dropLast();
    }
  }

  #call(id: string): Call {
    const call = this.#calls.get(id) ?? { asked: new Places(), given: new Places() };
    this.#calls.set(id, call);
    return call;
  }
}

/** Places in ascending order, which are given up from either end. */
class Places {
  readonly #places: number[] = [];
  #from = 0;

  /** Infinity where there is none. */
  get first(): number {
    return this.#places[this.#from] ?? Infinity;
  }

  /** -Infinity where there is none. */
  get last(): number {
    return this.#from < this.#places.length ? (this.#places.at(-1) as number) : -Infinity;
  }

  add(index: number): void {
    this.#places.push(index);
  }

  /** @returns what was the first */
  dropFirst(): number {
    return this.#places[this.#from++] as number;
  }

  /** @returns what was the last */
  dropLast(): number {
    return this.#places.pop() as number;
  }
}
