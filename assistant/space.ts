import { cleanJson, jsonObject, parse, type Json, type JsonObject, type OpInput } from '../protocol/index.js';

/**
 * Key-value data of the turn, shared by its steps and by the assistants it delegates to. What is read is what this
 * assistant has written, and what those that it called had written when they ended. Values are copied both ways.
 *
 * A step records the space as it is when the step begins, and an attempt goes on with the space of the step that runs
 * again: what is written outside any step before a recorded one is in it, and is not written twice.
 */
export interface Space {
  get(key: string): Json | undefined;
  /** @throws {ChatError} at once `bad_request`: no JSON, deeper than 64, a key that is not allowed; later `payload_too_large` */
  set(key: string, value: Json): Promise<void>;
  /** The value, which is deleted: for data that is handed over once. */
  getDel(key: string): Json | undefined;
  delete(key: string): Promise<void>;
  /** A deep copy of everything. */
  snapshot(): JsonObject;
  /** Sets every key of a snapshot; other keys stay. */
  restore(data: JsonObject): Promise<void>;
}

export interface SpaceNeeds {
  readonly initial: JsonObject;
  /** Sends ops; none where what is done now was done by an earlier attempt. */
  readonly push: (ops: readonly OpInput[]) => Promise<void>;
  /** Whether what the code does now was done by an earlier attempt. */
  readonly isPast: () => boolean;
}

/** The space of one frame: a mirror of the turn's, read at once and written through. */
export class SpaceMirror implements Space {
  #values: Map<string, Json>;

  constructor(private readonly needs: SpaceNeeds) {
    this.#values = new Map(Object.entries(needs.initial));
  }

  /** Takes over what the turn's space is now. */
  load(space: JsonObject): void {
    this.#values = new Map(Object.entries(space));
  }

  get(key: string): Json | undefined {
    const value = this.#values.get(key);
    return value === undefined ? undefined : cleanJson(value);
  }

  set(key: string, value: Json): Promise<void> {
    // fromEntries makes any key an own one, so that a forbidden key is seen and refused.
    return this.restore(Object.fromEntries([[key, value]]));
  }

  getDel(key: string): Json | undefined {
    const value = this.get(key);
    void this.delete(key);
    return value;
  }

  delete(key: string): Promise<void> {
    if (this.needs.isPast() || !this.#values.delete(key)) return Promise.resolve();
    return this.needs.push([{ op: 'space.delete', key }]);
  }

  snapshot(): JsonObject {
    return cleanJson(Object.fromEntries(this.#values)) as JsonObject;
  }

  restore(data: JsonObject): Promise<void> {
    const entries = Object.entries(parse(jsonObject, data, ['space']));
    if (this.needs.isPast() || entries.length === 0) return Promise.resolve();
    for (const [key, value] of entries) this.#values.set(key, value);
    return this.needs.push(entries.map(([key, value]) => ({ op: 'space.set', key, value })));
  }
}
