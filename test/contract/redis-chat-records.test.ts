import { createClient } from 'redis';
import { createRedisChatRecords } from '../../server/adapters/redis/chat-records.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { REDIS_URL } from '../harness/services.js';
import { chatRecordsContract } from './chat-records.js';

const prefix = `test-${systemIds.id()}:`;

chatRecordsContract('Redis', async () => {
  const records = await createRedisChatRecords({
    url: REDIS_URL,
    clock: systemClock,
    ids: systemIds,
    log: createLog('silent'),
    prefix,
    maxEvents: 100,
    maxBytes: 10_000,
    ttlMs: 60_000,
  });
  const beside = await createClient({ url: REDIS_URL }).connect();
  return {
    records,
    async loseAll() {
      await beside.del(await beside.keys(`${prefix}*`));
    },
    async close() {
      records.close();
      const keys = await beside.keys(`${prefix}*`);
      if (keys.length > 0) await beside.del(keys);
      beside.destroy();
    },
  };
});
