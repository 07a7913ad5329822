import type { AddressInfo, Server } from 'node:net';
import { createBalancer } from '../../tools/balancer.mjs';

/** The nodes behind the address of each balancer that is up. */
const behind = new Map<string, readonly string[]>();

/** The nodes behind an address: itself, where it is that of a server. */
export const nodesBehind = (url: string): readonly string[] => behind.get(url) ?? [url];

/** What stands before several nodes, on a free port (`tools/balancer.mjs`). */
export class Balancer {
  readonly #listener: Server;

  private constructor(nodes: readonly string[]) {
    this.#listener = createBalancer(nodes);
  }

  /** @param nodes where they listen, on loopback; whoever gave the list may change it */
  static async over(nodes: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(nodes);
    await new Promise<void>((resolve) => balancer.#listener.listen(0, '127.0.0.1', resolve));
    behind.set(balancer.url, nodes);
    return balancer;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Takes no more connections. */
  close(): void {
    if (!this.#listener.listening) return;
    behind.delete(this.url);
    this.#listener.close();
  }
}
