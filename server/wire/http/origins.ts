import type { IncomingHttpHeaders } from 'node:http';

/** Who a browser says is asking. Programs send no origin. */
interface Asker {
  /** The `Origin` header. */
  readonly origin?: string | undefined;
  /** The `Host` header. */
  readonly host?: string | undefined;
  /** The `X-Forwarded-For` header: for whom a proxy asks. */
  readonly forwardedFor?: string | string[] | undefined;
}

/** What the headers of a request say. */
export const askerOf = ({ origin, host, 'x-forwarded-for': forwardedFor }: IncomingHttpHeaders): Asker => ({
  origin,
  host,
  forwardedFor,
});

/** Which pages may act as the person in whose browser they are open. The same for HTTP and for socket handshakes. */
export interface OriginPolicy {
  /** Whether a page elsewhere may read answers and write: it is on the allow-list. */
  allows(origin: string): boolean;
  /** Whether a request may do more than read: it comes from no page, from a page of this server, or from an allowed one. */
  admits(asker: Asker): boolean;
  /** Whether the request was meant for this server. */
  answersTo(asker: Asker): boolean;
}

export interface OriginSettings {
  /** Origins such as `https://app.example.com`. */
  readonly corsOrigins: readonly string[];
  /**
   * Answer only to loopback names and the hosts of `corsOrigins`. For a server without authentication: a page whose name
   * was turned to 127.0.0.1 behind the browser's back (DNS rebinding) is of the same origin for the browser, but it
   * brings its own name in `Host`.
   */
  readonly loopbackOnly: boolean;
  /** Called when a page of an origin is refused, once for each of the first {@link MOST_TOLD}: its browser shows nobody why. */
  readonly onRefused?: (origin: string) => void;
}

/** Origins are anybody's words: more of them are not remembered. */
const MOST_TOLD = 20;

const HERE = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * No cookie is ever read here, but a development server believes whoever reaches it, and browsers let any page send
 * simple requests and open sockets anywhere (C51). Hence the look at the origin, which no page can forge.
 */
export function createOriginPolicy({ corsOrigins, loopbackOnly, onRefused }: OriginSettings): OriginPolicy {
  const allowed = new Set(corsOrigins);
  const hosts = new Set(corsOrigins.map((origin) => new URL(origin).host));
  const told = new Set<string>();
  function refuse(origin: string): false {
    if (told.size >= MOST_TOLD || told.has(origin)) return false;
    told.add(origin);
    onRefused?.(origin);
    return false;
  }
  return {
    allows: (origin) => allowed.has(origin),
    admits: ({ origin, host }) => origin === undefined || allowed.has(origin) || isOf(origin, host) || refuse(origin),
    answersTo: ({ host, forwardedFor }) =>
      !loopbackOnly || ((host === undefined || LOOPBACK.test(host) || hosts.has(host)) && isFromHere(forwardedFor)),
  };
}

/** A proxy makes callers from anywhere look as if they were here; one for development says that they are. */
const isFromHere = (forwardedFor: string | string[] | undefined): boolean =>
  forwardedFor === undefined ||
  [forwardedFor].flat().every((list) => list.split(',').every((address) => HERE.test(address.trim())));

/** The scheme is not compared: behind a proxy that speaks TLS the server cannot know its own. */
function isOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
