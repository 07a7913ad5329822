import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/index.js';
import { cleanCopy } from '../clean-copy.js';
import { isMedia } from './media.js';
import { ValidationError, ValueError } from './value-error.js';

/** Levels that content may have, so that it fits into what is kept of a message (DAT-2). */
const MAX_CONTENT_DEPTH = 56;

/**
 * A schema of zod 4, of any version: the types of zod itself admit those of their own minor version alone, and a program may
 * have another one than this package.
 */
export interface ContentSchema {
  readonly _zod: { readonly input: unknown; readonly output: unknown };
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: Parameters<typeof z.prettifyError>[0] };
}

/** Content of a message: a value that its schema has admitted. It never changes. */
export class SchemaInstance<T = unknown> {
  constructor(
    /** The name under which the schema is registered. */
    readonly schemaName: string,
    /** The schema that admitted it. */
    readonly schema: ContentSchema,
    /** The value as the schema gives it, with media as their classes. */
    readonly data: T & object,
    /** The same as JSON: what is stored and dumped. */
    readonly json: JsonObject,
  ) {
    Object.freeze(this);
  }
}

/** The framework's own two schemas, for plain conversation; what others wrote is read as these. */
const BASIC = {
  BasicChatInputSchema: z.object({ chat_message: z.string() }),
  BasicChatOutputSchema: z.object({ chat_message: z.string() }),
};
type Basic = typeof BASIC;

/**
 * Names of content and the zod schemas that they stand for: all that may come out of a dump or a store. A name that is not
 * here is refused; nothing is ever looked up or loaded by a name that data gives.
 *
 *     const schemas = new SchemaRegistry({ Question: z.object({ text: z.string(), picture: image }) });
 *     history.addMessage('user', schemas.make('Question', { text: 'What is this?', picture: new Image({ source }) }));
 *
 * A dump of the Python framework names classes in full (`my_agent.schemas.Question`): register under that name to read it.
 */
export class SchemaRegistry<
  S extends Readonly<Record<string, ContentSchema>> = Readonly<Record<never, ContentSchema>>,
> {
  readonly #schemas: ReadonlyMap<string, ContentSchema>;

  constructor(schemas?: S) {
    this.#schemas = new Map<string, ContentSchema>([...Object.entries(BASIC), ...Object.entries(schemas ?? {})]);
  }

  /** Content by the name of its schema. @throws {ValueError} an unknown name @throws {ValidationError} a value that does not fit */
  make<N extends keyof (S & Basic) & string>(
    name: N,
    value: z.input<(S & Basic)[N]>,
  ): SchemaInstance<z.output<(S & Basic)[N]>> {
    return this.read(name, value) as SchemaInstance<z.output<(S & Basic)[N]>>;
  }

  /** The same of what comes from outside. @throws {ValueError} */
  read(name: string, value: unknown): SchemaInstance {
    const schema = this.#schemas.get(name);
    if (!schema) throw new ValueError(`Unknown schema ${JSON.stringify(name)}: register it to use it.`);
    const result = schema.safeParse(asJson(value, name));
    if (!result.success) throw new ValidationError(`${name}: ${z.prettifyError(result.error)}`);
    const json = asJson(result.data, name);
    if (!isJsonObject(json)) throw new ValidationError(`${name}: expected an object.`);
    return new SchemaInstance(name, schema, frozen(result.data as object), json);
  }

  /** Whether the name is known. */
  has(name: string): boolean {
    return this.#schemas.has(name);
  }

  /** Whether it is content that a schema of this registry admitted. */
  isInstance(content: unknown): content is SchemaInstance {
    return content instanceof SchemaInstance && this.#schemas.get(content.schemaName) === content.schema;
  }
}

/** A copy as JSON, media as their fields. @throws {ValidationError} what JSON has no word for, or what is nested too deep */
function asJson(value: unknown, name: string): Json {
  const refusal = (reason: string): Error => new ValidationError(`${name}: ${reason}`);
  return cleanCopy(mediaAsFields(value, 0), refusal, MAX_CONTENT_DEPTH);
}

/** What is shared within the value is done once: it may be shared very often. */
function mediaAsFields(value: unknown, depth: number, done = new Map<object, unknown>()): unknown {
  if (isMedia(value)) return { ...value };
  // What is deeper is refused as it stands.
  if (value === null || typeof value !== 'object' || depth > MAX_CONTENT_DEPTH) return value;
  if (done.has(value)) return done.get(value);
  const of = (inner: unknown): unknown => mediaAsFields(inner, depth + 1, done);
  let fields: unknown = value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) fields = value.map(of);
  // By definition, not by assignment: a key `__proto__` has to be seen by what refuses it.
  else if (prototype === Object.prototype || prototype === null)
    fields = Object.fromEntries(Object.entries(value).map(([key, field]) => [key, of(field)]));
  done.set(value, fields);
  return fields;
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value) as unknown[])
    if (inner !== null && typeof inner === 'object' && !Object.isFrozen(inner)) frozen(inner);
  return Object.freeze(value);
}
