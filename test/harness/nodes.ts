import { createClient } from 'redis';
import { onTestFinished } from 'vitest';
import { systemIds } from '../../server/id-source.js';
import { postgresDatabase } from './postgres-database.js';
import { startServer, temporaryDirectory, type ServerOptions, type TestServer } from './server.js';
import { ServerProcess } from './server-process.js';
import { REDIS_URL } from './services.js';

/** What nodes share: a database and a part of Redis that are theirs alone until the test is finished. */
export class Nodes {
  readonly env: Record<string, string>;

  constructor(redisUrl = REDIS_URL) {
    const database = postgresDatabase();
    onTestFinished(() => database.remove());
    this.env = { DATABASE_URL: database.url, REDIS_URL: redisUrl, REDIS_PREFIX: `test-${systemIds.id()}:` };
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
