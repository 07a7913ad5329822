import { isForbiddenKey, isJsonObject, jsonDepth, type Json, type JsonObject } from '../../protocol/index.js';

/**
 * What a framework's message holds beside its text, as JSON that comes back as it was: dates, addresses, bytes, numbers
 * that JSON has no word for, keys that the protocol forbids, any depth. Functions and symbols are left out, as JSON does;
 * an object of another class becomes a plain one. Reading only ever makes values, it runs nothing.
 */

const TAG = '$bee';
/** What stands deeper is kept as one text: the protocol's own bound is 64, and the value stands inside of metadata. */
const MAX_DEPTH = 40;

/** @throws {TypeError} for a value that contains itself @throws {RangeError} for one that is nested too deep to be walked */
export function storedOf(value: unknown): Json {
  const stored = written(value, new Set()) ?? null;
  return jsonDepth(stored) > MAX_DEPTH ? { [TAG]: 'json', value: JSON.stringify(stored) } : stored;
}

/** What {@link storedOf} was given. @throws {Error} for what it did not write */
export function valueFrom(stored: Json): unknown {
  if (Array.isArray(stored)) return stored.map((inner) => valueFrom(inner as Json));
  if (!isJsonObject(stored)) return stored;
  const kind = stored[TAG];
  if (kind === undefined) return mapped(stored);
  const read = typeof kind === 'string' ? READERS.get(kind) : undefined;
  if (!read) throw new TypeError('a value of an unknown kind');
  return read(stored['value'] as Json);
}

/** Undefined for what is left out. */
function written(value: unknown, around: Set<object>): Json | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : tagged('number', Object.is(value, -0) ? '-0' : String(value));
  if (typeof value === 'bigint') return tagged('bigint', String(value));
  if (typeof value !== 'object') return undefined;
  const special = ofClass(value);
  if (special) return special;
  if (around.has(value)) throw new TypeError('a value that contains itself cannot be stored');
  around.add(value);
  const result = Array.isArray(value)
    ? value.map((inner) => written(inner, around) ?? null)
    : writtenObject(value, around);
  around.delete(value);
  return result;
}

function ofClass(value: object): Json | null {
  if (value instanceof Date) return tagged('date', Number.isNaN(value.getTime()) ? null : value.toISOString());
  if (value instanceof URL) return tagged('url', value.href);
  if (value instanceof Uint8Array) return tagged('bytes', base64(value));
  if (value instanceof ArrayBuffer) return tagged('buffer', base64(new Uint8Array(value)));
  return null;
}

function writtenObject(value: object, around: Set<object>): Json {
  const entries: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const stored = written(inner, around);
    if (stored !== undefined) entries.push([key, stored]);
  }
  const needsEntries = entries.some(([key]) => key === TAG || isForbiddenKey(key));
  return needsEntries ? tagged('object', entries) : Object.fromEntries(entries);
}

const tagged = (kind: string, value: Json): Json => ({ [TAG]: kind, value });

const mapped = (stored: JsonObject): unknown =>
  Object.fromEntries(Object.entries(stored).map(([key, inner]) => [key, valueFrom(inner)]));

const READERS: ReadonlyMap<string, (value: Json) => unknown> = new Map<string, (value: Json) => unknown>([
  ['date', (value) => new Date(value === null ? NaN : text(value))],
  ['url', (value) => new URL(text(value))],
  ['bytes', (value) => bytes(text(value))],
  ['buffer', (value) => bytes(text(value)).buffer],
  ['number', (value) => Number(text(value))],
  ['bigint', (value) => BigInt(text(value))],
  ['json', (value) => valueFrom(JSON.parse(text(value)) as Json)],
  // Own properties, `__proto__` too: nothing reaches a prototype.
  ['object', (value) => Object.fromEntries((value as [string, Json][]).map(([key, inner]) => [key, valueFrom(inner)]))],
]);

function text(value: Json): string {
  if (typeof value !== 'string') throw new TypeError('expected a text');
  return value;
}

function base64(from: Uint8Array): string {
  let binary = '';
  for (const byte of from) binary += String.fromCharCode(byte);
  return btoa(binary);
}

const bytes = (from: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(from), (char) => char.charCodeAt(0));
