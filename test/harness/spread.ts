import { join } from 'node:path';
import { createClient } from 'redis';
import { afterAll } from 'vitest';
import type { ChatCommands } from '../../protocol/index.js';
import type { Turnstream } from '../../server/app.js';
import { systemIds } from '../../server/id-source.js';
import { Balancer } from './balancer.js';
import { REDIS_URL } from './services.js';

/** Of how many nodes a server of the tests is made: with TEST_NODES they share a database and a Redis behind a balancer. */
const NODES = Number(process.env['TEST_NODES'] ?? 1);
export const isSpread = NODES > 1;

/** A part of Redis for the servers of this file; and within it one for those on each data directory, as with databases. */
const PREFIX = `test-${systemIds.id()}:`;
const prefixes = new Map<string, string>();
if (isSpread) afterAll(forgetAll);

/** What a test sees of a server, whatever it is made of. */
export type Served = Omit<Turnstream, 'metrics'>;

/**
 * One server of several nodes: each connection reaches the next of them, and so does each command that is called within
 * the process.
 *
 * @param start starts a node
 */
export async function startSpread(
  dataDir: string,
  start: (node: { readonly env: Record<string, string>; readonly dataDir: string }) => Promise<Served>,
): Promise<Served> {
  const prefix = prefixes.get(dataDir) ?? `${PREFIX}${prefixes.size}:`;
  prefixes.set(dataDir, prefix);
  // Few connections to the database: two files are under test at a time, and a server of them is three.
  const env = { REDIS_URL, REDIS_PREFIX: prefix, DATABASE_CONNECTIONS: '4' };
  const nodes: Served[] = [];
  // One after the other: each finds those that are there, and none waits for one that does not listen yet.
  for (let node = 1; node <= NODES; node++) nodes.push(await start({ env, dataDir: join(dataDir, `node-${node}`) }));
  const balancer = await Balancer.over(nodes.map(({ url }) => url));
  let calls = 0;
  const ended = async (how: 'close' | 'drain'): Promise<void> => {
    await Promise.all(nodes.map((node) => node[how]()));
    balancer.close();
  };
  return {
    url: balancer.url,
    port: balancer.port,
    as(caller) {
      const doors = nodes.map((node) => node.as(caller));
      const next = (): ChatCommands => doors[calls++ % doors.length] as ChatCommands;
      return { call: (name, args) => next().call(name, args) };
    },
    close: () => ended('close'),
    drain: () => ended('drain'),
  };
}

/** Takes out what the servers of this file have left in Redis. */
async function forgetAll(): Promise<void> {
  const client = await createClient({ url: REDIS_URL }).connect();
  try {
    const keys = await client.keys(`${PREFIX}*`);
    if (keys.length > 0) await client.del(keys);
  } finally {
    client.destroy();
  }
}
