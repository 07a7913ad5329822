import type { Proxy } from '../harness/proxy.js';
import type { RedisServer } from '../harness/redis-server.js';
import { until } from '../harness/until.js';

/** The same Redis over a network that can be cut. */
export const viaProxy = (proxy: Proxy): string => `redis://${new URL(proxy.url).host}`;

/** What is sent to a node goes into its inbox and is lost there, with all that Redis holds, before it is read. @param proxy the network of that node alone */
export async function loseWhatIsSent(redis: RedisServer, proxy: Proxy, to: string, send: () => unknown): Promise<void> {
  const reads = async (): Promise<number> => String(await redis.command('CLIENT', 'LIST')).split('flags=b').length - 1;
  const before = await reads();
  proxy.freeze();
  // Redis ends the read that is under way; no other follows it.
  await until(async () => (await reads()) < before, 'the end of a read');
  send();
  await until(async () => Number(await redis.command('XLEN', `turnstream:inbox:${to}`)) > 0, 'the message');
  await redis.command('FLUSHALL');
  proxy.thaw();
}
