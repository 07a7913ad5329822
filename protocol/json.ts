import * as z from 'zod';
import { wellFormed } from './text.js';

/** A JSON value. Values of this type are never changed in place: whoever changes one makes a new one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Levels of nesting that props, metadata, input, output and space values may have (DAT-2). */
export const MAX_JSON_DEPTH = 64;
/** Values in one JSON document; more can only come from a graph that shares nodes, never from a frame within its bounds. */
const MAX_JSON_NODES = 2_000_000;

const FORBIDDEN_KEYS = new Set(['__proto__', 'prototype', 'constructor']);

/** Whether a key could reach an object's prototype (DAT-2). */
export const isForbiddenKey = (key: string): boolean => FORBIDDEN_KEYS.has(key);

export const isJsonObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Why a value is not JSON that we carry, and where. */
export class JsonFault extends Error {
  constructor(
    message: string,
    readonly path: readonly (string | number)[],
  ) {
    super(message);
  }
}

interface Task {
  readonly source: object;
  readonly target: Json[] | Record<string, Json>;
  readonly path: readonly (string | number)[];
}

/**
 * A deep copy of `value` that holds plain JSON with well-formed text only (DAT-1, DAT-2).
 *
 * It walks with a list of its own, not with recursion, so that no nesting can exhaust the stack. Properties that are
 * undefined are left out, as JSON does.
 *
 * @throws {JsonFault} deeper than MAX_JSON_DEPTH, a forbidden key, a number that is not finite, or a value that JSON has no word for
 */
export function cleanJson(value: unknown): Json {
  const tasks: Task[] = [];
  let nodes = 0;

  const admit = (inner: unknown, path: readonly (string | number)[]): Json => {
    if (inner === null || typeof inner === 'boolean') return inner;
    if (typeof inner === 'string') return wellFormed(inner);
    if (typeof inner === 'number') {
      if (!Number.isFinite(inner)) throw new JsonFault('a number that is not finite', path);
      return Object.is(inner, -0) ? 0 : inner;
    }
    if (typeof inner !== 'object') throw new JsonFault(`a value of type ${typeof inner} is not JSON`, path);
    if (path.length >= MAX_JSON_DEPTH)
      throw new JsonFault(`nested deeper than ${MAX_JSON_DEPTH} levels`, path.slice(0, 8));
    if (++nodes > MAX_JSON_NODES) throw new JsonFault('too many values', []);
    const target: Json[] | Record<string, Json> = Array.isArray(inner) ? [] : {};
    if (!Array.isArray(inner) && !isPlain(inner))
      throw new JsonFault('an object of a class, such as a Date, is not JSON', path);
    tasks.push({ source: inner, target, path });
    return target;
  };

  const root = admit(value, []);
  for (let task = tasks.pop(); task; task = tasks.pop()) {
    const { source, target, path } = task;
    if (Array.isArray(target)) {
      for (const [index, inner] of (source as unknown[]).entries()) target.push(admit(inner, [...path, index]));
      continue;
    }
    for (const [key, inner] of Object.entries(source)) {
      if (isForbiddenKey(key)) throw new JsonFault(`the key ${key} is not allowed`, path);
      if (inner === undefined) continue;
      const clean = wellFormed(key);
      target[clean] = admit(inner, [...path, clean]);
    }
  }
  return root;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function cleaned(value: unknown, context: z.RefinementCtx): Json {
  try {
    return cleanJson(value);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    context.addIssue({ code: 'custom', message: error.message, path: [...error.path] });
    return z.NEVER;
  }
}

/** Any JSON value, cleaned by {@link cleanJson}. */
export const json = z.unknown().transform(cleaned).meta({ description: 'Any JSON value, at most 64 levels deep.' });

/** A JSON object, cleaned by {@link cleanJson}. */
export const jsonObject = z
  .custom<Record<string, unknown>>((value) => isJsonObject(value), { error: 'expected a JSON object' })
  .transform((value, context) => cleaned(value, context) as JsonObject);

/** Levels of nesting of a value that {@link cleanJson} has let through: 0 for a scalar. */
export function jsonDepth(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  let deepest = 0;
  for (const inner of Object.values<Json>(value)) deepest = Math.max(deepest, jsonDepth(inner));
  return deepest + 1;
}

/** JSON text with keys in order, the same for equal values: what fingerprints are made of (TRN-1). */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}
