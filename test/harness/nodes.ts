import { createClient } from 'redis';
import { onTestFinished } from 'vitest';
import { systemIds } from '../../server/id-source.js';
import { postgresDatabase } from './postgres-database.js';
import { startServer, temporaryDirectory, type ServerOptions, type TestServer } from './server.js';
import { ServerProcess } from './server-process.js';
import { POSTGRES_URL, REDIS_URL } from './services.js';

/** What nodes share: a database and a part of Redis that are theirs alone until the test is finished. */
export class Nodes {
  readonly env: Record<string, string>;

  constructor(redisUrl = REDIS_URL, postgresUrl = POSTGRES_URL) {
    const database = postgresDatabase(postgresUrl);
    onTestFinished(() => database.remove());
    const prefix = `test-${systemIds.id()}:`;
    onTestFinished(() => forgotten(redisUrl, prefix));
    this.env = { DATABASE_URL: database.url, REDIS_URL: redisUrl, REDIS_PREFIX: prefix };
  }

  /** A node in this process. */
  start(options: ServerOptions = {}): Promise<TestServer> {
    return startServer({ ...options, env: { ...this.env, ...options.env } });
  }

  /** What one command answers, about one of their keys in Redis. */
  async redis(command: string, key: string, ...more: string[]): Promise<unknown> {
    const { REDIS_URL: url = '', REDIS_PREFIX: prefix = '' } = this.env;
    const client = await createClient({ url }).connect();
    try {
      return await client.sendCommand([command, prefix + key, ...more]);
    } finally {
      client.destroy();
    }
  }

  /** A node as a process of its own, which can be killed. */
  process(env: Record<string, string> = {}): Promise<ServerProcess> {
    return new ServerProcess({ ...this.env, ...env }, temporaryDirectory()).start();
  }
}

/** Takes out what the nodes have left, where their Redis is still there. */
async function forgotten(url: string, prefix: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const keys = await client.keys(`${prefix}*`);
    if (keys.length > 0) await client.del(keys);
  } catch {
    // It was the test's own, and has ended with it.
  } finally {
    if (client.isOpen) client.destroy();
  }
}
