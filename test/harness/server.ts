import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Assistant } from '../../assistant/index.js';
import { createTurnstream, type TurnstreamOptions } from '../../server/app.js';
import { readConfig } from '../../server/config.js';
import { createLog } from '../../server/log.js';
import { databaseUrl } from './database.js';
import { isSpread, startSpread, type Served } from './spread.js';

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'turnstream-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** Bounds per user are set wide, so that only a test about them meets them. */
const ROOMY = {
  RATE_LIMIT_PER_SECOND: '100000',
  RATE_LIMIT_BYTES_PER_SECOND: '100000000',
  MAX_CONNECTIONS_PER_USER: '1000',
  LOG_LEVEL: 'silent',
};

export interface ServerOptions extends Partial<Omit<TurnstreamOptions, 'config'>> {
  readonly env?: Record<string, string>;
  readonly dataDir?: string;
  readonly assistants?: readonly Assistant[];
}

export interface TestServer extends Served {
  readonly dataDir: string;
}

/**
 * A real server in this process, on a free port with a fresh data directory; closed after the test. With TEST_NODES it is
 * several nodes behind one address.
 */
export async function startServer({
  env = {},
  dataDir = env['DATA_DIR'] ?? temporaryDirectory(),
  ...options
}: ServerOptions = {}): Promise<TestServer> {
  const all = { ...ROOMY, PORT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl(dataDir), ...env };
  const start = (more: Record<string, string> = {}): Promise<Served> => {
    const config = readConfig({ ...all, ...more });
    return createTurnstream({ config, log: createLog(config.logLevel), ...options });
  };
  const server = await (isSpread
    ? startSpread(dataDir, (node) => start({ ...node.env, DATA_DIR: node.dataDir }))
    : start());
  onTestFinished(() => server.close());
  return { ...server, dataDir };
}
