import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../protocol/index.js';
import { ConfigError, readConfig, settingsTable, warningsOf } from '../../server/config.js';

const refused = (env: Record<string, string>): ConfigError => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
};

describe('section 10: settings', () => {
  test('without any variable there is a server on loopback', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      dataDir: './data',
      databaseUrl: 'file:data/turnstream.db',
      authMode: 'none',
      allowInsecure: false,
      corsOrigins: [],
      assistants: [],
      logLevel: 'info',
      coalesceMs: 33,
      agentWaitMs: 30_000,
      commitRetryMs: 10_000,
      maxTurnMs: 3_600_000,
      maxUnsavedBytes: 268_435_456,
      logMaxTotalBytes: 33_554_432,
      fsyncMs: 100,
      rateLimitPerSecond: 100,
      maxConnectionsPerUser: 100,
      allowPolling: false,
    });
    expect(config.limits).toEqual(DEFAULT_LIMITS);
  });

  test('what is given counts, empty counts as unset, and unknown variables are not looked at', () => {
    const config = readConfig({
      HOST: '::1',
      PORT: '0',
      DATA_DIR: '/var/lib/chats',
      COALESCE_MS: '0',
      MAX_FRAME_BYTES: '65536',
      CORS_ORIGINS: 'https://a.example, http://localhost:5173',
      ALLOW_POLLING: '1',
      ALLOW_INSECURE: '0',
      MAX_QUEUED_TURNS: '',
      PATH: '/usr/bin',
    });
    expect(config).toMatchObject({
      host: '::1',
      port: 0,
      databaseUrl: 'file:/var/lib/chats/turnstream.db',
      coalesceMs: 0,
      maxFrameBytes: 65_536,
      corsOrigins: ['https://a.example', 'http://localhost:5173'],
      allowPolling: true,
      allowInsecure: false,
      maxQueuedTurns: 16,
    });
    expect(config.limits).toEqual({ ...DEFAULT_LIMITS, maxFrameBytes: 65_536 });
    expect(config).not.toHaveProperty('path');
    expect(readConfig({ DATABASE_URL: 'file:/tmp/x.db' }).databaseUrl).toBe('file:/tmp/x.db');
  });

  test.each([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['PORT', ' 3000'],
    ['PORT', '0x10'],
    ['PORT', '1e3'],
    ['COALESCE_MS', '-1'],
    ['COALESCE_MS', 'NaN'],
    ['MAX_FRAME_BYTES', '1e999'],
    ['MAX_FRAME_BYTES', 'Infinity'],
    ['MAX_FRAME_BYTES', '1MiB'],
    ['MAX_FRAME_BYTES', '0'],
    ['MAX_TURN_BYTES', '99999999999999999999'],
    ['MAX_TURN_BYTES', '9007199254740993'],
    // A timer of more than 25 days would fire at once.
    ['AGENT_WAIT_MS', '2147483648'],
    ['LOG_LEVEL', 'loud'],
    ['AUTH_MODE', 'basic'],
    ['ALLOW_POLLING', 'yes'],
    ['DATABASE_URL', 'mysql://db'],
    ['AUTH_JWKS_URL', 'file:///etc/keys'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'null'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', 'loopback,10.0.0.0/99'],
    ['MAX_CHATS_PER_USER', '0'],
    ['RATE_LIMIT_PER_ADDRESS', '0'],
    ['RATE_LIMIT_BYTES_PER_SECOND', '1e9'],
    ['CORS_ORIGINS', 'app.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/path'],
    ['CORS_ORIGINS', 'https://*.example.com'],
    ['CORS_ORIGINS', 'https://good.example,javascript:alert(1)'],
  ])('%s=%s is refused in one line that begins with its name', (name, value) => {
    const error = refused({ [name]: value });
    expect(error.variable).toBe(name);
    expect(error.message).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('several nodes need a database that they can share, and no secret is repeated', () => {
    expect(refused({ REDIS_URL: 'redis://:s3cret@cache' }).message).toMatch(/^REDIS_URL: .*DATABASE_URL=postgresql/);
    for (const env of [
      { AUTH_MODE: 'jwt', HOST: '0.0.0.0', AUTH_JWT_SECRET: 's3cret' },
      { DATABASE_URL: 's3cret' },
      { DATABASE_URL: 'mysql://me:s3cret@db/chats' },
      { REDIS_URL: 's3cret' },
    ]) {
      expect(refused(env as Record<string, string>).message).not.toContain('s3cret');
    }
  });

  test('AUTH_MODE=none listens on loopback only, unless ALLOW_INSECURE=1', () => {
    for (const HOST of ['0.0.0.0', '::', '192.168.1.2', 'example.com', '128.0.0.1', 'localhost.example.com']) {
      expect(refused({ HOST }).variable).toBe('HOST');
      expect(readConfig({ HOST, ALLOW_INSECURE: '1' }).host).toBe(HOST);
    }
    for (const HOST of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(readConfig({ HOST }).host).toBe(HOST);
  });

  test('AUTH_MODE=jwt needs one kind of key, and one that cannot be guessed where others can reach the server', () => {
    const AUTH_MODE = 'jwt';
    const url = 'https://id.example/keys';
    expect(refused({ AUTH_MODE }).variable).toBe('AUTH_JWT_SECRET');
    expect(refused({ AUTH_MODE, AUTH_JWT_SECRET: 'x'.repeat(32), AUTH_JWKS_URL: url }).variable).toBe(
      'AUTH_JWT_SECRET',
    );
    for (const reachable of [
      { HOST: '0.0.0.0' },
      { HOST: '0.0.0.0', ALLOW_INSECURE: '1' },
      { TRUST_PROXY: 'loopback' },
    ])
      expect(refused({ AUTH_MODE, ...reachable, AUTH_JWT_SECRET: 'x'.repeat(31) }).variable).toBe('AUTH_JWT_SECRET');
    for (const env of [{ AUTH_JWT_SECRET: 'x'.repeat(32) }, { AUTH_JWKS_URL: url }])
      expect(readConfig({ AUTH_MODE, HOST: '0.0.0.0', ...env }).authMode).toBe('jwt');
    expect(readConfig({ AUTH_MODE, AUTH_JWT_SECRET: 'short' }).authJwtSecret).toBe('short');
  });

  test('what is dangerous is said aloud, and what is not, not', () => {
    const said = (env: Record<string, string>) => warningsOf(readConfig(env));
    expect(said({})).toEqual([expect.stringMatching(/^AUTH_MODE=none: every program on this machine/)]);
    expect(said({ AUTH_JWT_SECRET: 'x'.repeat(32) })[1]).toMatch(/tokens are not looked at/);
    expect(said({ HOST: '0.0.0.0', ALLOW_INSECURE: '1' })).toEqual([expect.stringContaining('EVERYBODY')]);
    const jwt = { AUTH_MODE: 'jwt' };
    expect(said({ ...jwt, AUTH_JWT_SECRET: 'short' })).toEqual([expect.stringMatching(/^AUTH_JWT_SECRET .* guessed/)]);
    expect(said({ ...jwt, AUTH_JWKS_URL: 'http://id.example/keys' })).toEqual([expect.stringMatching(/over http/)]);
    for (const env of [{ AUTH_JWT_SECRET: 'x'.repeat(32) }, { AUTH_JWKS_URL: 'https://id.example/keys' }])
      expect(said({ ...jwt, ...env })).toEqual([]);
    for (const host of ['127.0.0.1', '[::1]', 'localhost'])
      expect(said({ ...jwt, AUTH_JWKS_URL: `http://${host}:99/keys` })).toEqual([]);
  });

  test('the table has every setting of section 10 with a default and one sentence', () => {
    const rows = settingsTable();
    const section10 =
      `HOST PORT DATA_DIR DATABASE_URL REDIS_URL AUTH_MODE ALLOW_INSECURE AUTH_JWT_SECRET AUTH_JWKS_URL AUTH_JWT_ISSUER
      AUTH_JWT_AUDIENCE AUTH_CLOCK_TOLERANCE_MS CORS_ORIGINS ASSISTANTS LOG_LEVEL COALESCE_MS MAX_FRAME_BYTES MAX_MESSAGE_BYTES
      MAX_TURN_BYTES MAX_PAGE_BYTES MAX_QUEUED_TURNS MAX_UNSAVED_BYTES MAX_TURN_MS AGENT_WAIT_MS AGENT_GRACE_MS AUTH_GRACE_MS
      COMMIT_RETRY_MS DRAIN_MS MAX_OUTBOX_BYTES LOG_MAX_EVENTS LOG_MAX_BYTES LOG_TTL_MS RATE_LIMIT_PER_SECOND
      MAX_CONNECTIONS_PER_USER ALLOW_POLLING`.split(/\s+/);
    expect(rows.map((row) => row.name)).toEqual(expect.arrayContaining(section10));
    for (const { name, meaning } of rows) expect(meaning, name).toMatch(/^.+\.$/);
    expect(rows.find((row) => row.name === 'MAX_FRAME_BYTES')).toMatchObject({ default: '1048576' });
    expect(rows.find((row) => row.name === 'DATABASE_URL')?.default).toBe('a SQLite file in `DATA_DIR`');
    expect(rows.find((row) => row.name === 'ALLOW_POLLING')?.default).toBe('0');
    expect(rows.find((row) => row.name === 'REDIS_URL')?.default).toBe('');
  });
});
