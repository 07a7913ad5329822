import { cleanJson, isJsonObject, wellFormed, type Json, type JsonObject } from '../../protocol/index.js';
import { cleanCopy } from '../clean-copy.js';
import { invalid } from './error.js';

/** What the agents of one request share: values by key. A framework may bring its own. */
export interface Space {
  keys(): Iterable<string>;
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The seed's persistence of a space: what a step keeps of it, and what a resume puts back. */
export interface SpaceStore {
  /** A copy of all values by their keys, however deep. @throws {YaoStoreError} `bad_request` for a space that holds what is not JSON */
  snapshot(): JsonObject;
  /** Sets each key; others stay as they are. @throws {YaoStoreError} `bad_request` for what is not JSON, and then none is set */
  restore(data: Readonly<Record<string, unknown>> | null | undefined): void;
}

export const spaceStoreOf = (space: Space): SpaceStore => ({
  snapshot: () => objectOf(Object.fromEntries([...space.keys()].map((key) => [key, space.get(key)]))),
  restore(data) {
    for (const [key, value] of Object.entries(objectOf(data ?? {}))) space.set(key, value);
  },
});

/** A space in memory. Values are copied whole where they come in and go out. */
export class MemorySpace implements Space {
  readonly #values = new Map<string, Json>();

  keys(): Iterable<string> {
    return [...this.#values.keys()];
  }

  has(key: string): boolean {
    return this.#values.has(wellFormed(key));
  }

  /** Undefined where there is none. */
  get(key: string): Json | undefined {
    const value = this.#values.get(wellFormed(key));
    return value === undefined ? undefined : cleanJson(value);
  }

  /** @throws {YaoStoreError} `bad_request` for what is not JSON, or a key that no object of JSON has here */
  set(key: string, value: unknown): void {
    const [entry] = Object.entries(objectOf({ [key]: value }));
    if (!entry) throw invalid('a value of type undefined is not JSON');
    this.#values.set(...entry);
  }

  /** Gives the value, and takes it away. */
  getDel(key: string): Json | undefined {
    const value = this.get(key);
    this.delete(key);
    return value;
  }

  /** Whether it was there. */
  delete(key: string): boolean {
    return this.#values.delete(wellFormed(key));
  }

  clear(): void {
    this.#values.clear();
  }
}

function objectOf(value: object): JsonObject {
  const copy = cleanCopy(value, invalid);
  if (!isJsonObject(copy)) throw invalid('a snapshot of a space is an object');
  return copy;
}
