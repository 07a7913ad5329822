import { entryOf } from '../../server/adapters/redis/bus-entry.js';
import type { Proxy } from '../harness/proxy.js';
import type { RedisServer } from '../harness/redis-server.js';
import { until } from '../harness/until.js';

/** The same Redis over a network that can be cut. */
export const viaProxy = (proxy: Proxy): string => `redis://${new URL(proxy.url).host}`;

/**
 * What is sent to a node goes into its inbox and is lost there, with all that Redis holds, before it is read.
 *
 * @param proxy the network of that node alone
 * @param isAllThere whether what is to be lost with it has come, too
 */
export async function loseWhatIsSent(
  redis: RedisServer,
  proxy: Proxy,
  to: string,
  send: () => unknown,
  isAllThere = async () => true,
): Promise<void> {
  proxy.freeze();
  const isReading = async (): Promise<boolean> =>
    String(await redis.command('CLIENT', 'LIST'))
      .split('\n')
      .some((client) => client.includes(' flags=b ') && proxy.addresses.some((at) => client.includes(` addr=${at} `)));
  // Redis ends the read that is under way; no other follows it.
  await until(async () => !(await isReading()), 'the end of a read');
  const inbox = `turnstream:inbox:${to}`;
  const entries = async (after: string) =>
    (await redis.command('XRANGE', inbox, after, '+')) as [id: string, fields: string[]][];
  // What was read before may stand there yet, and counts that come by themselves are no messages.
  const [newest = '0-0'] = (await entries('-')).at(-1) ?? [];
  send();
  const isMessage = ([, fields]: [id: string, fields: string[]]): boolean => entryOf(fields).messages.length > 0;
  await until(async () => (await entries(`(${newest}`)).some(isMessage), 'the message');
  await until(isAllThere, 'the rest');
  await redis.command('FLUSHALL');
  proxy.thaw();
}
