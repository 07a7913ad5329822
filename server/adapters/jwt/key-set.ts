import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
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
      const response = await bounded(await fetch(address, options));
      if (response.ok) fetchedAt = clock.monotonic();
      return response;
    },
  });

  /** The keys of the last answer, as long as they may be believed. */
  function known(): JWTVerifyGetKey | null {
    const set = remote.jwks();
    return set && clock.monotonic() - fetchedAt < MAX_STALE_MS ? createLocalJWKSet(set) : null;
  }

  return async (header, token) => {
    const isOut = clock.monotonic() - failedAt < OUTAGE_RETRY_MS;
    const kept = isOut ? known() : null;
    if (kept) return kept(header, token);
    try {
      return await remote(header, token);
    } catch (error) {
      if (isAboutTheToken(error)) throw error;
      failedAt = clock.monotonic();
      log.warn({ err: error }, 'the keys that tokens are signed with cannot be had');
      const last = known();
      if (last) return last(header, token);
      throw new ChatError('internal', 'Tokens cannot be verified at present.', { cause: error, retryAfterMs: 1000 });
    }
  };
}

const isAboutTheToken = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;

/** The answer, read no further than {@link MAX_SET_BYTES}. */
async function bounded(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_SET_BYTES) throw new Error(`the set of keys is larger than ${MAX_SET_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}
