import * as z from 'zod';

const share = z.coerce.number().min(0).max(1);
const amount = z.coerce.number().nonnegative();
const positive = z.coerce.number().positive();
const count = z.coerce.number().int().positive();

/** What people and assistants do, and on what: every question of the calculator, with an answer to begin with. */
export const workloadSchema = z.strictObject({
  connections: count.default(10_000).describe('open connections of all nodes together'),
  connectionsPerUser: positive.default(1.2).describe('connections of one user: tabs, devices'),
  chatsPerConnection: positive.default(1).describe('chats that one connection follows'),
  followersPerChat: z.coerce.number().min(1).default(1.2).describe('connections that follow a chat'),
  remoteShare: share.default(0.33).describe('of followers: those on another node than the one that owns the chat'),
  turnsPerUserHour: amount.default(6).describe('turns that one user starts in an hour'),
  tokensPerAnswer: positive.default(400).describe('tokens of one answer'),
  tokensPerSecond: positive.default(40).describe('tokens a second of one running turn'),
  charactersPerToken: positive.default(4).describe('characters of one token'),
  charactersPerQuestion: amount.default(400).describe('characters of one input'),
  stepsPerTurn: amount.default(1).describe('recorded steps of one turn'),
  charactersPerStep: amount.default(2_000).describe('characters that a step keeps: prompt, output, space'),
  agentShare: share.default(0).describe('of turns: those that agents outside run'),
  opensPerUserHour: amount.default(4).describe('chats that one user opens in an hour'),
  reconnectsPerUserHour: amount.default(1).describe('times that one connection is made again in an hour'),
  daysKept: positive.default(365).describe('days that turns are kept'),

  coalesceMs: positive.default(33).describe('COALESCE_MS'),
  logTtlSeconds: positive.default(600).describe('LOG_TTL_MS, in seconds: how long records outlive their last event'),
  logMaxTotalBytes: amount.default(32 * 2 ** 20).describe('LOG_MAX_TOTAL_BYTES of one node'),
  maxConnections: count.default(50_000).describe('MAX_CONNECTIONS of one node'),
  databaseConnections: count.default(10).describe('DATABASE_CONNECTIONS of one node'),
  redisShards: count.default(1).describe('Redis processes that records and inboxes are spread over'),
  redisMemoryGiB: positive.default(16).describe('memory of one of them'),
  redisBandwidthGbit: positive.default(10).describe('its network, each way'),
  postgresCores: positive.default(16).describe('cores of the database'),
  postgresConnections: positive.default(500).describe('max_connections, or those of the pooler'),
  nodeMemoryGiB: positive.default(2).describe('memory of one node: one Node process, one core'),
  targetUtilisation: z.coerce.number().positive().max(1).default(0.6).describe('of each core, at most'),
  nodesLost: z.coerce.number().int().nonnegative().default(1).describe('nodes that may be missing at that'),
});

export type Workload = z.infer<typeof workloadSchema>;
export type WorkloadGiven = Partial<Workload>;

/** @throws {z.ZodError} naming what is out of its bounds */
export const workloadOf = (given: Readonly<Record<string, unknown>> = {}): Workload => workloadSchema.parse(given);
