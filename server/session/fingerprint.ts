import { createHash } from 'node:crypto';
import { canonicalJson, cleanJson, isJsonObject, type JsonObject } from '../../protocol/index.js';

/** The arguments that make two starts with one requestId the same (TRN-1). */
const PARTS = ['chatId', 'input', 'regenerate', 'assistantId', 'onBusy', 'metadata'] as const;

/** The hash of a start's body as it was sent: SHA-256 of its canonical JSON, hexadecimal. */
export function fingerprint(sent: unknown): string {
  const body: JsonObject = isJsonObject(sent) ? sent : {};
  const parts = Object.fromEntries(PARTS.filter((part) => body[part] !== undefined).map((part) => [part, body[part]]));
  return createHash('sha256')
    .update(canonicalJson(cleanJson(parts)))
    .digest('hex');
}
