import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The nodes behind the address of each balancer that is up. */
const behind = new Map<string, readonly string[]>();

/** The nodes behind an address: itself, where it is that of a server. */
export const nodesBehind = (url: string): readonly string[] => behind.get(url) ?? [url];

/**
 * What stands before several nodes: each new connection goes to the next of them, whoever makes it, as a load balancer
 * without stickiness does. It knows nothing of what is said.
 */
export class Balancer {
  readonly #listener: Server;
  #next = 0;

  private constructor(private readonly nodes: readonly string[]) {
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
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

  /** Takes no more connections. Those that there are end with their nodes, whose last words are still passed on. */
  close(): void {
    if (!this.#listener.listening) return;
    behind.delete(this.url);
    this.#listener.close();
  }

  #accept(client: Socket): void {
    const url = this.nodes[this.#next++ % this.nodes.length] as string;
    const node = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [client, node],
      [node, client],
    ] as const) {
      // It slows down whoever sends faster than the other side reads, and passes on the end once all was said.
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroySoon());
    }
  }
}
