import { createHash } from 'node:crypto';
import { canonicalJson, cleanJson, inputObject, isJsonObject, type Json } from '../../protocol/index.js';

/** The arguments that make two starts with one requestId the same (TRN-1). */
const PARTS = ['chatId', 'input', 'regenerate', 'assistantId', 'onBusy', 'metadata'] as const;
const MESSAGE_PARTS = Object.keys(inputObject.shape);

/** The hash of a start's body as it was sent: SHA-256 of its canonical JSON, hexadecimal. What the schema drops is no part of it. */
export function fingerprint(sent: unknown): string {
  const body = partsOf(sent, PARTS, (part, value) => (part === 'input' ? inputOf(value) : cleanJson(value)));
  return createHash('sha256').update(canonicalJson(body)).digest('hex');
}

const inputOf = (input: unknown): Json => (Array.isArray(input) ? input.map(messageOf) : messageOf(input));

const messageOf = (message: unknown): Json =>
  isJsonObject(message) ? partsOf(message, MESSAGE_PARTS, (_, value) => cleanJson(value)) : cleanJson(message);

/** Each part is cleaned by itself, as the schema has done: its depth is counted from where it begins (DAT-2). */
function partsOf<P extends string>(body: unknown, parts: readonly P[], clean: (part: P, value: unknown) => Json): Json {
  const given: Readonly<Record<string, unknown>> = isJsonObject(body) ? body : {};
  return Object.fromEntries(
    parts.filter((part) => given[part] !== undefined).map((part) => [part, clean(part, given[part])]),
  );
}
