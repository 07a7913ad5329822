import { MAX_TURN_ERROR_LENGTH, wellFormed } from '../../protocol/index.js';
import { cutConnection, isRetryable, retryAfterMs } from '../retryable.js';

export interface ModelErrorOptions {
  readonly retryable: boolean;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * A model did not answer. It keeps the HTTP status and the provider's words, and nothing else of what went wrong: no
 * headers, no prompt, no key, and no `cause` that holds them, for errors are logged and shown.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code = 'model_error';
  /** Whether another try may help. */
  readonly retryable: boolean;
  /** The provider's HTTP status, where it came to one. */
  readonly status: number | undefined;
  /** How long the provider asks to wait, where it does. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ModelErrorOptions) {
    super(wellFormed(redacted(message).slice(0, MAX_TURN_ERROR_LENGTH)));
    this.retryable = options.retryable;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Names by which the AI SDK says that a stream ended too early or that what came was no event: the next may be whole. */
const BROKEN_STREAM = new Set(['AI_InvalidResponseDataError', 'AI_JSONParseError', 'AI_NoOutputGeneratedError']);

/** What a model, its provider or the SDK threw, as a {@link ModelError}. One that is one already stays. */
export function modelErrorOf(thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const { statusCode, name } = Object(thrown) as { statusCode?: unknown; name?: unknown };
  const isBroken = typeof name === 'string' && BROKEN_STREAM.has(name);
  const cut = cutConnection(thrown);
  const status = typeof statusCode === 'number' ? statusCode : undefined;
  // A stream that broke began with 200, which explains nothing.
  const shown = status === undefined || status < 400 ? cut : status;
  const words = isBroken ? brokenWords(thrown) : wordsOf(thrown);
  return new ModelError(shown === null ? `The model failed: ${words}` : `The model failed (${shown}): ${words}`, {
    retryable: isBroken || isRetryable(thrown),
    status,
    retryAfterMs: retryAfterMs(thrown),
  });
}

function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  const message = (Object(thrown) as { message?: unknown }).message;
  return typeof message === 'string' && message !== '' ? message : 'no reason was given';
}

/** The SDK quotes the whole text that it could not read; the first line says what is wrong. */
const brokenWords = (thrown: unknown): string => `what came was no answer (${firstLine(wordsOf(thrown))})`;
const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 200);

/**
 * What looks like a key: after the word for it, or with the prefix that providers give theirs, and with a digit in it, as
 * words have none; and passwords in URLs.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+(?=\S*\d)[\w.~+/=*-]{6,}/gi, '$1 [redacted]'],
  [/\b(api[-_ ]?key|token|secret|authorization)(["']?\s*[:=]\s*["']?)(?=\S*\d)[\w.~+/=*-]{6,}/gi, '$1$2[redacted]'],
  [/\b(sk|pk|rk|gsk|xai)[-_](?=\S*\d)[\w*.-]{6,}/gi, '[redacted]'],
  [/\bAIza[\w-]{20,}/g, '[redacted]'],
  [/\/\/[^/\s@]+@/g, '//[redacted]@'],
];

const redacted = (text: string): string =>
  SECRETS.reduce((clean, [secret, instead]) => clean.replace(secret, instead), text);
