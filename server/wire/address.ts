import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Who an internet provider gives a network to has this many bits of it in common (RFC 6177); a caller may change the rest at will. */
const IPV6_NETWORK_BITS = 64;

/** Finds out where a request comes from: the peer, or behind proxies that are trusted whom they say they speak for. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * @param trusted addresses and networks, or `loopback`, `linklocal`, `uniquelocal`
 * @param onUntrusted called once, when somebody speaks for others and nobody is trusted to: behind a proxy all callers
 *   would have its address
 * @throws {TypeError} one that is none of these
 */
export function createAddressOf(trusted: readonly string[], onUntrusted: () => void = () => undefined): AddressOf {
  const trust = proxyaddr.compile([...trusted]);
  let isSilent = trusted.length > 0;
  return (request) => {
    if (!isSilent && request.headers['x-forwarded-for'] !== undefined) {
      isSilent = true;
      onUntrusted();
    }
    return networkOf(proxyaddr(request, trust) || '');
  };
}

/** What is counted as one: an IPv4 address, an IPv6 network. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = [...parsed.toByteArray().slice(0, IPV6_NETWORK_BITS / 8), ...new Array<number>(8).fill(0)];
  return `${ipaddr.fromByteArray(network).toString()}/${IPV6_NETWORK_BITS}`;
}
