import type { Server } from 'node:net';

/** Each new connection goes to the next node. Not listening yet. */
export function createBalancer(nodes: readonly string[]): Server;
