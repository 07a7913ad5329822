import { expect, it, onTestFinished } from 'vitest';
import { openRedisBus } from '../../server/adapters/redis/bus.js';
import { openRedisLeases } from '../../server/adapters/redis/leases.js';
import { systemClock } from '../../server/clock.js';
import { Calls } from '../../server/cluster/calls.js';
import { Peers } from '../../server/cluster/peers.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { until } from '../harness/until.js';
import { loseWhatIsSent, viaProxy } from './emptied-redis.js';

/** A node that has joined the others, by its parts. */
async function join(leasesUrl: string, busUrl = leasesUrl): Promise<{ nodeId: string; peers: Peers; met: string[] }> {
  const parts = { clock: systemClock, ids: systemIds, log: createLog('silent') };
  const leases = await openRedisLeases({ ...parts, url: leasesUrl });
  const bus = await openRedisBus({ ...parts, url: busUrl, nodeId: leases.nodeId, countMs: 200, blockMs: 200 });
  const peers = await Peers.join(leases, new Calls(bus, parts.log), systemClock);
  const met: string[] = [];
  peers.onMet((nodeId) => met.push(nodeId));
  onTestFinished(async () => {
    peers.close();
    await bus.close();
    await leases.close();
  });
  return { nodeId: leases.nodeId, peers, met };
}

describeWithRedisServer('the other nodes while Redis has its troubles', () => {
  it('LIF-4: a node whose joining was not heard is found, and both know that they meet anew', async () => {
    const redis = await startRedis();
    const proxy = await Proxy.to(redis.url, asBytes);
    const a = await join(redis.url, viaProxy(proxy));
    let joining: ReturnType<typeof join> | undefined;
    await loseWhatIsSent(redis, proxy, a.nodeId, () => (joining = join(redis.url)));
    const b = await joining!;
    await until(() => a.peers.nodeIds.includes(b.nodeId), 'a knows b', 20_000);
    expect(b.peers.nodeIds).toEqual([a.nodeId]);
    await until(() => a.met.includes(b.nodeId) && b.met.includes(a.nodeId), 'both have met', 20_000);
  });
});
