// What stands before several nodes where there is no proxy, in development and in tests: each new connection goes to the
// next of them, whoever makes it, as a load balancer without stickiness does. It knows nothing of what is said.
import { connect, createServer } from 'node:net';

/**
 * A server that is not listening yet. Once it is closed it takes no more connections; those that there are end with their
 * nodes, whose last words are still passed on.
 * @param nodes addresses of nodes on loopback; whoever gave the list may change it
 */
export function createBalancer(nodes) {
  let next = 0;
  /** A node that does not take the connection (yet) is passed over, each of them once. */
  const pass = (client, tries) => {
    const port = Number(new URL(nodes[next++ % nodes.length]).port);
    const node = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const isRefused = () => (tries > 1 && !client.destroyed ? pass(client, tries - 1) : client.destroy());
    node.once('error', isRefused);
    node.once('connect', () => {
      node.off('error', isRefused);
      join(client, node);
      join(node, client);
    });
  };
  return createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (client) => {
    // Until there is somebody to tell.
    client.on('error', () => client.destroy());
    pass(client, nodes.length);
  });
}

/** Slows down whoever sends faster than the other side reads, and passes on the end once all was said. */
function join(from, to) {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroySoon());
}
