import { isForbiddenKey, isJsonObject, type Json, type JsonObject } from './json.js';

// Paths into a message's props and what may be written at them (DAT-2). All writes give new values; nothing is changed
// in place, so a snapshot taken earlier stays what it was.

const MAX_PATH_SEGMENTS = 64;
/** Where `append` writes when it names no path. */
export const DEFAULT_PATH = 'content';
/** Its segments: every token asks for them three times. */
const DEFAULT_SEGMENTS: readonly string[] = [DEFAULT_PATH];

const INDEX = /^(0|[1-9]\d*)$/;

/** A write that the rules refuse; the message says why. */
export class PathFault extends Error {}

/** The path as events carry it: without a leading `props.`. To be done once, where a path comes in: what is left may begin with a key `props`. */
export function normalPath(path: string): string {
  return path.startsWith('props.') ? path.slice('props.'.length) : path;
}

/** The segments of a path in its normal form. @throws {PathFault} empty or forbidden segments, or more than 64 */
export function parsePath(path: string): readonly string[] {
  if (path === '') return [];
  if (path === DEFAULT_PATH) return DEFAULT_SEGMENTS;
  const segments = path.split('.');
  if (segments.length > MAX_PATH_SEGMENTS) throw new PathFault(`a path has at most ${MAX_PATH_SEGMENTS} segments`);
  for (const segment of segments) {
    if (segment === '') throw new PathFault('a path has no empty segments');
    if (isForbiddenKey(segment)) throw new PathFault(`the path segment ${segment} is not allowed`);
  }
  return segments;
}

/** The value at a path, undefined where there is none. */
export function readPath(props: JsonObject, path: string): Json | undefined {
  let at: Json | undefined = props;
  for (const segment of parsePath(path)) {
    if (Array.isArray(at)) at = INDEX.test(segment) ? (at as readonly Json[])[Number(segment)] : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined;
  }
  return at;
}

/**
 * Props with the value at `path` replaced by `change(value there)`. Missing parents (and null) become objects, or arrays
 * where a number follows.
 *
 * @throws {PathFault} through a text, number or boolean; an index beyond the array's length; a name on an array
 */
export function changePath(props: JsonObject, path: string, change: (held: Json | undefined) => Json): JsonObject {
  return changeAt(props, parsePath(path), 0, change) as JsonObject;
}

function changeAt(
  held: Json | undefined,
  segments: readonly string[],
  depth: number,
  change: (held: Json | undefined) => Json,
): Json {
  const segment = segments[depth];
  if (segment === undefined) return change(held);
  const container = held ?? (INDEX.test(segment) ? [] : {});
  if (Array.isArray(container)) {
    const list = container as readonly Json[];
    if (!INDEX.test(segment)) throw new PathFault(`${segment} is no index of an array`);
    const index = Number(segment);
    if (index > list.length) throw new PathFault(`index ${index} is beyond the array's length ${list.length}`);
    const copy = list.slice();
    copy[index] = changeAt(list[index], segments, depth + 1, change);
    return copy;
  }
  if (!isJsonObject(container)) throw new PathFault(`the path runs through a ${typeof container}`);
  const inner = Object.hasOwn(container, segment) ? container[segment] : undefined;
  return { ...container, [segment]: changeAt(inner, segments, depth + 1, change) };
}

/** The text at a path, '' where there is none yet. @throws {PathFault} where something else than text is held */
export function textAt(props: JsonObject, path: string): string {
  const held = readPath(props, path);
  if (held === undefined) return '';
  if (typeof held !== 'string') throw new PathFault(`${path} holds no text`);
  return held;
}

/** Objects merge key by key; arrays, scalars and null replace. */
export function deepMerge(held: Json | undefined, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const merged: Record<string, Json> = isJsonObject(held) ? { ...held } : {};
  for (const [key, inner] of Object.entries(value))
    merged[key] = deepMerge(Object.hasOwn(merged, key) ? merged[key] : undefined, inner);
  return merged;
}
