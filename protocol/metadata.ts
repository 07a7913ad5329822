import { jsonObject, type JsonObject } from './json.js';

/** What programs keep with a chat, a turn, a message or a step: an object of their own, or null. */
export const metadata = jsonObject.nullable();

/** The metadata without these keys; the same object where it has none of them. */
export function metadataWithout(keys: readonly string[], given: JsonObject | null): JsonObject | null {
  if (given === null || keys.every((key) => given[key] === undefined)) return given;
  return Object.fromEntries(Object.entries(given).filter(([key]) => !keys.includes(key)));
}
