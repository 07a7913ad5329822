import { ChatError } from '../protocol/index.js';

/** Errors by which a network says that a connection could not be made or did not last. */
const CUT_CONNECTION = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const MAX_CAUSES = 8;

/** Whether the same again may succeed: the error says so, something was too slow, or a connection was cut. */
export function isRetryable(error: unknown): boolean {
  return field(error, 'isRetryable') === true || field(error, 'retryable') === true || cutConnection(error) !== null;
}

/** The network's word for a connection that was cut, wherever it stands among the causes; null where it was not. */
export function cutConnection(error: unknown): string | null {
  let inner = error;
  for (let depth = 0; depth < MAX_CAUSES && inner !== undefined; depth++) {
    const code = field(inner, 'code');
    if (typeof code === 'string' && CUT_CONNECTION.has(code)) return code;
    inner = field(inner, 'cause');
  }
  return null;
}

/** How long the other side asks us to wait: our own errors say it in `retryAfterMs`, HTTP in its headers. */
export function retryAfterMs(error: unknown): number | undefined {
  if (error instanceof ChatError) return error.retryAfterMs;
  const own = field(error, 'retryAfterMs');
  if (typeof own === 'number') return own;
  const headers = field(error, 'responseHeaders');
  const inMs = Number.parseFloat(String(field(headers, 'retry-after-ms')));
  if (inMs >= 0) return inMs;
  const after = field(headers, 'retry-after');
  if (typeof after !== 'string') return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(after)) return Number(after) * 1000;
  // The time of day is the other side's in both: our clock does not come into it.
  const ms = Date.parse(after) - Date.parse(String(field(headers, 'date')));
  return ms >= 0 ? ms : undefined;
}

const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;
