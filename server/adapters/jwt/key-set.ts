import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { ChatError } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { Log } from '../../log.js';

/** A set of a hundred RSA keys has some 50 KB. */
const MAX_SET_BYTES = 256 * 1024;
const FETCH_TIMEOUT_MS = 5_000;
/** How long a key that the issuer took back may still be believed. */
const MAX_AGE_MS = 5 * 60_000;
/** A key that is not in the set may be a new one: the set is asked for again, but not more often than this. */
const COOLDOWN_MS = 1_000;
/** How long known keys are believed while the issuer does not answer, and how often it is asked meanwhile. */
const MAX_STALE_MS = 60 * 60_000;
const OUTAGE_RETRY_MS = 10_000;

/**
 * The public keys at an address (RFC 7517): cached, asked for anew when one is missing, bounded in size and time. An
 * issuer that is away for a while locks nobody out whose key is known.
 */
export function remoteKeySet(
  url: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): JWTVerifyGetKey {
  let fetchedAt = -Infinity;
  let failedAt = -Infinity;
  const remote = createRemoteJWKSet(new URL(url), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    [customFetch]: async (address, options) => {
      try {
        const response = await setIn(await fetch(address, options));
        fetchedAt = clock.monotonic();
        failedAt = -Infinity;
        return response;
      } catch (error) {
        failedAt = clock.monotonic();
        log.warn({ err: error }, 'the keys that tokens are signed with cannot be had');
        throw error;
      }
    },
  });
  /** The keys of the last answer, as long as they may be believed. */
  function known(): JWTVerifyGetKey | null {
    const set = remote.jwks();
    return set && clock.monotonic() - fetchedAt < MAX_STALE_MS ? createLocalJWKSet(set) : null;
  }

  /** Whether the issuer was asked in vain a moment ago; a longer one where its keys are known. */
  function isOut(): boolean {
    const sinceMs = clock.monotonic() - failedAt;
    return sinceMs < COOLDOWN_MS || (sinceMs < OUTAGE_RETRY_MS && known() !== null);
  }

  return async (header, token) => {
    if (!isOut()) {
      try {
        return await remote(header, token);
      } catch (error) {
        // What is wrong with a token, or with the one key that it names, says nothing of the issuer.
        if (!isOut()) throw error;
      }
    }
    const last = known();
    if (last) return last(header, token);
    throw new ChatError('internal', 'Tokens cannot be verified at present.', { retryAfterMs: COOLDOWN_MS });
  };
}

/**
 * The answer, read no further than {@link MAX_SET_BYTES}, if it is a set of keys at all.
 *
 * @throws {Error} any other answer
 */
async function setIn(response: Response): Promise<Response> {
  if (response.status !== 200) throw new Error(`the answer is ${response.status}`);
  const text = await textIn(response);
  createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

async function textIn(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_SET_BYTES) throw new Error(`the set of keys is larger than ${MAX_SET_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
