/**
 * What may be followed, and what may be loaded, of the addresses that messages name. The one place that decides: links,
 * pictures and files of every message type come here.
 */
const FOLLOWED = new Set(['http:', 'https:', 'mailto:']);

function parsed(address: string): URL | null {
  try {
    return new URL(address, location.origin);
  } catch {
    return null;
  }
}

/** The address to follow, whole; null: none that a person should be led to. */
export function linkAddress(address: string): string | null {
  const url = parsed(address);
  return url && FOLLOWED.has(url.protocol) ? url.href : null;
}

/** Where a link leads, for people. */
export function placeOf(address: string): string {
  const url = parsed(address);
  return url?.host || address;
}

/** Where this server answers with streams that do not end. As pictures, six of them would use up a browser's connections. */
const IS_STREAMED = /^\/(v1|socket\.io)(\/|$)/i;

/**
 * The address of a picture that may be loaded: from this server, or one of the origins. Any other would tell a stranger
 * that this chat is being read, and whatever an answer can be made to write into it.
 */
export function pictureAddress(address: string, origins: readonly string[]): string | null {
  const url = parsed(address);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.origin === location.origin) return IS_STREAMED.test(decoded(url.pathname)) ? null : url.href;
  return origins.includes(url.origin) ? url.href : null;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/\/{2,}/g, '/');
  } catch {
    return path;
  }
}
