import { join } from 'node:path';
import proxyaddr from 'proxy-addr';
import * as z from 'zod';
import { DEFAULT_LIMITS, type Limits } from '../protocol/index.js';
import { MAX_TIMER_MS } from './clock.js';
import { LOG_LEVELS } from './log.js';

/**
 * Every setting of section 10: environment name with its unit, form, default and a sentence. Whatever else is said of a
 * setting (the README's table, the type of {@link Config}) is made from here.
 */

/** A bad setting. `message` is one line that begins with the variable's name and holds no value, which may be a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly variable: string,
    problem: string,
  ) {
    super(`${variable}: ${problem}`);
  }
}

const KiB = 1024;
const MiB = 1024 * KiB;
const MINUTE_MS = 60_000;

const whole = (fallback: number, meaning: string, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}) => {
  const error = `expected a whole number from ${min} to ${max}`;
  const digits = z.string().regex(/^\d{1,16}$/, { error });
  return digits
    .transform(Number)
    .pipe(z.int({ error }).min(min, { error }).max(max, { error }))
    .default(fallback)
    .meta({ description: meaning });
};
const bytes = (fallback: number, meaning: string, min = 1) => whole(fallback, meaning, { min });
const rate = (fallback: number, meaning: string) => whole(fallback, meaning, { max: 100_000_000 });
const duration = (fallbackMs: number, meaning: string) => whole(fallbackMs, meaning, { min: 0, max: MAX_TIMER_MS });
const flag = (meaning: string, fallback = false) =>
  z
    .enum(['0', '1', 'false', 'true'], { error: 'expected 1 or 0' })
    .transform((text) => text === '1' || text === 'true')
    .default(fallback)
    .meta({ description: meaning, shown: fallback ? '1' : '0' });
const word = (meaning: string) => z.string().optional().meta({ description: meaning });
const list = (meaning: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .default([])
    .meta({ description: meaning });
const address = z.url({ protocol: /^https?$/, error: 'expected an http or https address' });
const webAddress = (meaning: string) => address.optional().meta({ description: meaning });

/** `*` would let every page on the internet act as the user in whose browser it is open. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^/?#@\s*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

function areProxies(list: readonly string[]): boolean {
  try {
    proxyaddr.compile([...list]);
    return true;
  } catch {
    return false;
  }
}

const settings = z.object({
  HOST: z.string().default('127.0.0.1').meta({ description: 'Address to listen on.' }),
  PORT: whole(3000, 'Port to listen on; 0 picks a free one.', { min: 0, max: 65_535 }),
  DATA_DIR: z
    .string()
    .default('./data')
    .meta({ description: 'Directory of the database, the journal and the lock that keeps a second server out.' }),
  DATABASE_URL: z
    .string()
    .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, { error: 'expected file:… or postgresql://…' })
    .optional()
    .meta({
      description:
        'Where chats are stored: `file:…` (SQLite) or `postgresql://…`, which is made where it is not there yet.',
      shown: 'a SQLite file in `DATA_DIR`',
    }),
  DATABASE_CONNECTIONS: whole(10, 'Connections to PostgreSQL that the server opens at most; half of them write.', {
    min: 2,
    max: 1000,
  }),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/.+$/, { error: 'expected redis://… or rediss://…' })
    .optional()
    .meta({
      description: 'Live log, leases and routing of several nodes, which share `DATABASE_URL`. Unset: one node.',
    }),
  REDIS_PREFIX: z.string().default('turnstream:').meta({
    description: 'What the names of all keys in Redis begin with, so that several installations can share one.',
  }),

  AUTH_MODE: z.enum(['none', 'jwt'], { error: 'expected none or jwt' }).default('none').meta({
    description: 'Who callers are: `none` believes what they say (development); `jwt` asks for a signed token.',
  }),
  ALLOW_INSECURE: flag('`1` lets `AUTH_MODE=none` listen on more than loopback, for a network that you trust.'),
  AUTH_JWT_SECRET: word('Secret that tokens are signed with (HS256), at least 32 bytes; or else `AUTH_JWKS_URL`.'),
  AUTH_JWKS_URL: webAddress('Address of the public keys that tokens are signed with (RS256, ES256, EdDSA).'),
  AUTH_JWT_ISSUER: word('Issuer (`iss`) that a token must name.'),
  AUTH_JWT_AUDIENCE: word('Audience (`aud`) that a token must name.'),
  AUTH_CLOCK_TOLERANCE_MS: duration(0, 'How far the clock of whoever issues tokens may be off.'),
  AUTH_GRACE_MS: duration(10_000, 'From the end of a token until its connection is closed, unless refreshed.'),
  CORS_ORIGINS: list(
    'Origins of pages elsewhere that may use this server, comma-separated: `https://app.example.com`.',
  ).refine((origins) => origins.every(isOrigin), {
    error: 'expected origins such as https://app.example.com, comma-separated, without a path and without *',
  }),
  TRUST_PROXY: list(
    'Proxies whose `X-Forwarded-For` is believed, comma-separated: addresses, networks, `loopback`, `uniquelocal`.',
  ).refine(areProxies, {
    error: 'expected addresses or networks, comma-separated, or loopback, linklocal, uniquelocal',
  }),
  ALLOW_POLLING: flag('`1` allows HTTP long-polling where WebSocket does not pass; it needs sticky routing.'),
  PAGES: flag('`0` serves neither the page at `/` nor the inspector.', true),
  PAGES_IMAGE_ORIGINS: list(
    'Origins from which these pages show images of messages, comma-separated; others are links.',
  ).refine((origins) => origins.every(isOrigin), {
    error: 'expected origins such as https://img.example.com, comma-separated, without a path and without *',
  }),

  ASSISTANTS: list('Modules of in-process assistants, comma-separated paths.'),
  MODEL: word('Name of a model: with it the server has an assistant `chat`, which streams what that model says.'),
  OPENAI_BASE_URL: address
    .default('https://api.openai.com/v1')
    .meta({ description: 'Where `MODEL` is served: any API of the OpenAI form.' }),
  OPENAI_API_KEY: word('The key for it.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` })
    .default('info')
    .meta({ description: `Least level that is logged: ${LOG_LEVELS.join(', ')}.` }),

  MAX_FRAME_BYTES: bytes(DEFAULT_LIMITS.maxFrameBytes, 'One command, event or HTTP body.', KiB),
  MAX_MESSAGE_BYTES: bytes(DEFAULT_LIMITS.maxMessageBytes, 'One message.'),
  MAX_TURN_BYTES: bytes(DEFAULT_LIMITS.maxTurnBytes, 'All that the messages and steps of one turn hold.'),
  MAX_PAGE_BYTES: bytes(DEFAULT_LIMITS.maxPageBytes, 'One page of messages or one snapshot.'),
  MAX_QUEUED_TURNS: whole(DEFAULT_LIMITS.maxQueuedTurns, 'Turns that may wait in one chat.', { min: 0 }),
  MAX_UNSAVED_BYTES: bytes(256 * MiB, 'Ended turns that could not be stored yet; above it no turn starts.'),
  MAX_TURN_MS: whole(60 * MINUTE_MS, 'How long an attempt may run.', { max: MAX_TIMER_MS }),
  MAX_OUTBOX_BYTES: bytes(MiB, 'What may wait for a connection that does not read.'),
  MAX_CONNECTIONS: whole(50_000, 'Open connections of all users together.'),
  MAX_CONNECTIONS_PER_USER: whole(100, 'Open connections of one user.'),
  MAX_HANDSHAKES_PER_ADDRESS: whole(1_000, 'Sockets of one address that have not said who they are, 10 s at most.'),
  MAX_SUBSCRIPTIONS_PER_CONNECTION: whole(1_000, 'Chats that one connection may follow.'),
  MAX_CHATS_PER_USER: whole(100_000, 'Chats that one user may have created and not deleted.'),
  RATE_LIMIT_PER_SECOND: rate(100, 'Commands per second and user; bursts of ten times as many.'),
  RATE_LIMIT_BYTES_PER_SECOND: rate(8 * MiB, 'Bytes per second that one user may send; bursts of ten times as many.'),
  RATE_LIMIT_PER_ADDRESS: rate(
    100,
    'Failed attempts per second and address to say who one is; bursts of ten times as many.',
  ),
  COALESCE_MS: whole(33, 'Appends to one text within this time become one event; 0: those of one tick.', {
    min: 0,
    max: MINUTE_MS,
  }),

  AGENT_WAIT_MS: duration(30_000, 'How long a turn waits while nobody serves its assistant.'),
  AGENT_GRACE_MS: duration(15_000, 'How long the turns of an agent that disconnected wait for it.'),
  COMMIT_RETRY_MS: duration(10_000, 'How long the end of a turn waits for a store that does not answer.'),
  DRAIN_MS: duration(10_000, 'How long running turns may go on once the server was told to stop.'),
  FSYNC_MS: duration(100, 'How often the journal is forced to the disk: what a power cut may cost.'),

  LOG_MAX_EVENTS: whole(2_000, 'Events of one chat kept for replay.'),
  LOG_MAX_BYTES: bytes(2 * MiB, 'Bytes of events of one chat kept for replay.'),
  LOG_MAX_TOTAL_BYTES: bytes(32 * MiB, 'Bytes of events of all chats together kept for replay.'),
  LOG_TTL_MS: duration(10 * MINUTE_MS, 'How long the events of a chat are kept after its last one.'),
});

type Settings = z.output<typeof settings>;
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<Name>;

/** The settings under the names that code uses (`MAX_FRAME_BYTES` is `maxFrameBytes`), checked against each other. */
export type Config = { readonly [Name in keyof Settings as Camel<Name>]: Settings[Name] } & {
  /** With the default filled in. */
  readonly databaseUrl: string;
  /** DAT-3: what `hello.limits` announces. */
  readonly limits: Limits;
};

/**
 * The settings in an environment. A variable that is unset or empty has its default; others are not looked at.
 *
 * @throws {ConfigError} a value that is not of its form, or that does not go with the others
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.keys(settings.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const result = settings.safeParse(given);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new ConfigError(String(issue?.path[0]), issue?.message ?? 'not of the expected form');
  }
  const values = result.data;
  checkTogether(values);
  const limits: Limits = {
    ...DEFAULT_LIMITS,
    maxFrameBytes: values.MAX_FRAME_BYTES,
    maxMessageBytes: values.MAX_MESSAGE_BYTES,
    maxTurnBytes: values.MAX_TURN_BYTES,
    maxPageBytes: values.MAX_PAGE_BYTES,
    maxQueuedTurns: values.MAX_QUEUED_TURNS,
  };
  const databaseUrl = values.DATABASE_URL ?? `file:${join(values.DATA_DIR, 'turnstream.db')}`;
  const named = Object.fromEntries(Object.entries(values).map(([name, value]) => [camel(name), value]));
  // The compiler cannot follow names through Object.entries; `Camel` says the same as `camel`.
  return { ...named, databaseUrl, limits } as Config;
}

function checkTogether(values: Settings): void {
  if (values.REDIS_URL !== undefined && !values.DATABASE_URL?.startsWith('postgres'))
    throw new ConfigError('REDIS_URL', 'several nodes share a database: set DATABASE_URL=postgresql://… too');
  if (values.AUTH_MODE === 'jwt') checkKeys(values);
  if (values.AUTH_MODE === 'none' && !isLoopback(values.HOST) && !values.ALLOW_INSECURE)
    throw new ConfigError(
      'HOST',
      'with AUTH_MODE=none anyone who reaches the server may be anyone: listen on 127.0.0.1, or set ALLOW_INSECURE=1',
    );
}

function checkKeys({ HOST, TRUST_PROXY, AUTH_JWT_SECRET, AUTH_JWKS_URL }: Settings): void {
  if (AUTH_JWT_SECRET === undefined && AUTH_JWKS_URL === undefined)
    throw new ConfigError('AUTH_JWT_SECRET', 'AUTH_MODE=jwt needs it, or else AUTH_JWKS_URL');
  if (AUTH_JWT_SECRET !== undefined && AUTH_JWKS_URL !== undefined)
    throw new ConfigError('AUTH_JWT_SECRET', 'AUTH_JWKS_URL is set as well; keep one of the two');
  const isReachable = !isLoopback(HOST) || TRUST_PROXY.length > 0;
  if (isReachable && isShort(AUTH_JWT_SECRET))
    throw new ConfigError(
      'AUTH_JWT_SECRET',
      `expected at least ${MIN_SECRET_BYTES} bytes, since a shorter one can be guessed`,
    );
}

/** RFC 7518, section 3.2: a key as long as the hash. */
const MIN_SECRET_BYTES = 32;
const isShort = (secret: string | undefined): boolean =>
  secret !== undefined && Buffer.byteLength(secret) < MIN_SECRET_BYTES;

/** What a server with these settings has to say aloud when it starts, a sentence each. */
export function warningsOf(config: Config): string[] {
  const { authMode, host, authJwtSecret, authJwksUrl } = config;
  const warnings: string[] = [];
  if (authMode === 'none')
    warnings.push(
      isLoopback(host)
        ? 'AUTH_MODE=none: every program on this machine may be anyone; set AUTH_MODE=jwt before others use it'
        : `AUTH_MODE=none on ${host}: EVERYBODY WHO REACHES THIS SERVER MAY BE ANYBODY, admins too; set AUTH_MODE=jwt`,
    );
  if (authMode === 'none' && (authJwtSecret ?? authJwksUrl) !== undefined)
    warnings.push('AUTH_MODE=none: tokens are not looked at, though a key for them is set');
  if (authMode === 'jwt' && isShort(authJwtSecret))
    warnings.push(`AUTH_JWT_SECRET has less than ${MIN_SECRET_BYTES} bytes and can be guessed`);
  if (authMode === 'jwt' && authJwksUrl !== undefined && !cannotBeReplaced(new URL(authJwksUrl)))
    warnings.push('AUTH_JWKS_URL is fetched over http: whoever stands between may put in keys of their own');
  return warnings;
}

const cannotBeReplaced = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

const camel = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** One row of the README's table. */
export interface SettingRow {
  readonly name: string;
  /** As it would be written, or words where it depends; '' where it is unset. */
  readonly default: string;
  readonly meaning: string;
}

/** All settings in the order of the schema. */
export function settingsTable(): SettingRow[] {
  const defaults: Readonly<Record<string, unknown>> = settings.parse({});
  return Object.entries(settings.shape).map(([name, setting]) => {
    const { description = '', shown } = setting.meta() ?? {};
    const value = defaults[name];
    return {
      name,
      default:
        typeof shown === 'string'
          ? shown
          : Array.isArray(value)
            ? value.join(',')
            : `${(value as string | number | undefined) ?? ''}`,
      meaning: description,
    };
  });
}
