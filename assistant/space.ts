import * as z from 'zod';
import {
  canonicalJson,
  cleanJson,
  jsonObject,
  parse,
  type Json,
  type JsonObject,
  type OpInput,
} from '../protocol/index.js';

/**
 * Key-value data of the turn, shared by its steps and by the assistants it delegates to. What is read is what this
 * assistant has written, and what those that it called had written when they ended. Values are copied both ways.
 *
 * A step records the space as it is when the step begins, and what the step itself wrote when it ends. An attempt goes on
 * with the space of the step that runs again; a step that is not run again writes what it had written, in its place.
 */
export interface Space {
  /** `const topic = ctx.space.get('topic') ?? 'cats'` */
  get(key: string): Json | undefined;
  /** `await ctx.space.set('topic', 'cats')` @throws {ChatError} at once `bad_request`: no JSON, deeper than 64, a key that is not allowed; later `payload_too_large` */
  set(key: string, value: Json): Promise<void>;
  /** The value, which is deleted: for data that is handed over once. `ctx.space.getDel('choose_prompt') === 'query'` */
  getDel(key: string): Json | undefined;
  /** `await ctx.space.delete('topic')` */
  delete(key: string): Promise<void>;
  /** A deep copy of everything. `const before = ctx.space.snapshot()` */
  snapshot(): JsonObject;
  /** Sets every key of a snapshot; other keys stay. `await ctx.space.restore(before)` */
  restore(data: JsonObject): Promise<void>;
}

export interface SpaceNeeds {
  readonly initial: JsonObject;
  readonly push: (ops: readonly OpInput[]) => Promise<void>;
  /** Whether an earlier attempt had done what the code does now outside of any step. */
  readonly isPast: () => boolean;
  /** Notes for the step that runs what it writes. */
  readonly wrote: (key: string, value: Json | undefined) => void;
}

/** Keys and what they are to be; undefined: deleted. */
type Write = readonly (readonly [key: string, value: Json | undefined])[];

/** The space of one frame: a mirror of the turn's, read at once and written through. */
export class SpaceMirror implements Space {
  /** The turn's space, as far as it is known. */
  #known: Map<string, Json>;
  /** Own writes that are under way, in order: what is loaded meanwhile may not hold them yet. */
  readonly #open = new Set<Write>();
  /** Keys that this attempt has written: what it began with says nothing of them any more. */
  readonly #touched = new Set<string>();
  /** Both together. */
  #values: Map<string, Json>;

  constructor(private readonly needs: SpaceNeeds) {
    this.#known = new Map(Object.entries(needs.initial));
    this.#values = this.#current();
  }

  /** Takes over what the turn's space is now, after an assistant that was called has written there. */
  load(space: JsonObject): void {
    const before = this.#values;
    this.#known = new Map(Object.entries(space));
    this.#values = this.#current();
    for (const key of new Set([...before.keys(), ...this.#values.keys()])) {
      const value = this.#values.get(key);
      if (!isSame(before.get(key), value)) this.needs.wrote(key, value);
    }
  }

  /** Writes what a step had written that is not run again. */
  rewrite(wrote: Json): void {
    const write = writeOf(wrote);
    for (const [key, value] of write) {
      this.#touched.add(key);
      this.needs.wrote(key, value);
    }
    const changes = write.filter(([key, value]) => !isSame(this.#values.get(key), value));
    if (changes.length > 0) void this.#take(changes);
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
    return this.#values.has(key) ? this.#write([[key, undefined]]) : Promise.resolve();
  }

  snapshot(): JsonObject {
    return cleanJson(Object.fromEntries(this.#values)) as JsonObject;
  }

  restore(data: JsonObject): Promise<void> {
    const entries = Object.entries(parse(jsonObject, data, ['space']));
    return entries.length === 0 ? Promise.resolve() : this.#write(entries);
  }

  /** Writes, but for what was done before: the space that this attempt began with has it, and what came of it since. */
  #write(all: Write): Promise<void> {
    const write = this.needs.isPast() ? all.filter(([key]) => this.#touched.has(key) || !this.#values.has(key)) : all;
    return write.length === 0 ? Promise.resolve() : this.#take(write);
  }

  #take(write: Write): Promise<void> {
    apply(write, this.#values);
    for (const [key, value] of write) {
      this.#touched.add(key);
      this.needs.wrote(key, value);
    }
    this.#open.add(write);
    const taken = this.needs.push(write.map(opOf));
    taken.then(
      () => {
        this.#open.delete(write);
        apply(write, this.#known);
      },
      () => {
        this.#open.delete(write);
        this.#values = this.#current();
      },
    );
    return taken;
  }

  #current(): Map<string, Json> {
    const values = new Map(this.#known);
    for (const write of this.#open) apply(write, values);
    return values;
  }
}

function apply(write: Write, values: Map<string, Json>): void {
  for (const [key, value] of write) {
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  }
}

const opOf = ([key, value]: Write[number]): OpInput =>
  value === undefined ? { op: 'space.delete', key } : { op: 'space.set', key, value };

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);

/** As a step's metadata carries it. */
export const wroteJson = (wrote: ReadonlyMap<string, Json | undefined>): Json => {
  const entries = [...wrote];
  return {
    set: Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
    deleted: entries.flatMap(([key, value]) => (value === undefined ? [key] : [])),
  };
};

const wroteSchema = z.object({ set: jsonObject, deleted: z.array(z.string()) });

/** What is no such thing, in a step of somebody else, wrote nothing. */
function writeOf(wrote: Json): Write {
  const { success, data } = wroteSchema.safeParse(wrote);
  return success ? [...Object.entries(data.set), ...data.deleted.map((key) => [key, undefined] as const)] : [];
}
