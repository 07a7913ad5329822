/**
 * Every step of the leases that must not be torn, as a script in Redis. What they keep, under the prefix:
 *
 * - `nodes`: the living, a sorted set by the time of the last beat.
 * - `dead`: those declared dead, by the time of it.
 * - `owner:<chat>`: `node`, the owner, and `from`, the dead node that had it before.
 * - `owned:<node>`: its chats.
 * - `settling`: is there while nobody is given a chat that has no owner, because Redis has lost data.
 *
 * Time is the time of Redis, so that the clocks of nodes do not matter.
 */
import { defineScript, type CommandParser } from 'redis';

/** Milliseconds that a dead node is remembered which has left nothing: one that was paused for longer may take itself for a living one. */
const REMEMBER_MS = 24 * 60 * 60 * 1000;

/** There is one Redis, not a cluster of them, so scripts make the names of their keys from the prefix. */
const COMMON = `
local prefix = KEYS[1]
local nodes, dead, settling = prefix .. 'nodes', prefix .. 'dead', prefix .. 'settling'
local function ownerKey(chat) return prefix .. 'owner:' .. chat end
local function ownedKey(node) return prefix .. 'owned:' .. node end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function lastBeat(node) return tonumber(redis.call('ZSCORE', nodes, node)) end
local function give(chat, node, from)
  redis.call('HSET', ownerKey(chat), 'node', node)
  if from then
    redis.call('HSET', ownerKey(chat), 'from', from)
    redis.call('SREM', ownedKey(from), chat)
  end
  redis.call('SADD', ownedKey(node), chat)
end
local function takeBack(chat, node)
  redis.call('DEL', ownerKey(chat))
  redis.call('SREM', ownedKey(node), chat)
end
-- As if it had not been acquired: a dead node that had it has it again.
local function undo(chat, node)
  local from = redis.call('HGET', ownerKey(chat), 'from')
  takeBack(chat, node)
  if from then give(chat, from) end
end
`;

/** The prefix, then ARGV. `read` gives what the script says a form: the scripts stand on this page, and say nothing else. */
const script = <Said, Reply>(lua: string, read: (said: Said) => Reply) =>
  defineScript({
    SCRIPT: COMMON + lua,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser: CommandParser, prefix: string, ...args: readonly (string | number)[]) {
      parser.pushKey(prefix);
      parser.push(...args.map(String));
    },
    transformReply: (said: unknown) => read(said as Said),
  });

const nothing = (): void => {};
const asSaid = <T>(said: T): T => said;

type Joined = { readonly state: 'lost' } | { readonly state: 'held'; readonly beat: number; readonly owned: string[] };
type Beaten =
  | { readonly state: 'lost' }
  | { readonly state: 'forgotten' }
  | { readonly state: 'held'; readonly beat: number; readonly dead: readonly { nodeId: string; left: number }[] };
type Answered =
  | { readonly state: 'unknown' }
  | { readonly state: 'settling'; readonly forMs: number }
  | { readonly state: 'owned'; readonly owner: string };

export const LEASE_SCRIPTS = {
  /**
   * The node is there, for the first time or again, on a new connection. `known` is its last answered beat: where Redis does
   * not know it, Redis has lost data. Gives the chats that it owns.
   */
  join: script(
    `
local node, known, settleMs = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if redis.call('ZSCORE', dead, node) then return { 'lost' } end
if known > (lastBeat(node) or 0) then redis.call('SET', settling, '', 'PX', settleMs, 'NX') end
local at = now()
redis.call('ZADD', nodes, at, node)
return { 'held', at, redis.call('SMEMBERS', ownedKey(node)) }
`,
    (said: ['lost'] | ['held', number, string[]]): Joined =>
      said[0] === 'lost' ? { state: 'lost' } : { state: 'held', beat: said[1], owned: said[2] },
  ),

  /**
   * The node lives. If its last beat was the one it knows, and in time, then Redis has been there and heard all nodes: it
   * declares those dead that have not been heard for `lifeMs`. After an absence of Redis nobody is blamed for it: this beat
   * may have waited for Redis to come back, so what it is late by is not counted against others. Gives the dead, each with the
   * number of its chats that nobody has taken.
   */
  beat: script(
    `
local node, known = ARGV[1], tonumber(ARGV[2])
local heartbeatMs, lifeMs, noticeMs = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if redis.call('ZSCORE', dead, node) then return { 'lost' } end
local own = lastBeat(node)
if not own then return { 'forgotten' } end
local at = now()
if own == known and at - own < lifeMs then
  -- Redis' own clock has gone back: they are counted from now.
  for _, early in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. at, '+inf')) do redis.call('ZADD', nodes, at, early) end
  local lateBy = math.max(0, at - own - heartbeatMs)
  for _, silent in ipairs(redis.call('ZRANGEBYSCORE', nodes, '-inf', at - lifeMs - lateBy)) do
    redis.call('ZREM', nodes, silent)
    redis.call('ZADD', dead, at, silent)
  end
end
redis.call('ZADD', nodes, at, node)
local told = {}
local entries = redis.call('ZRANGE', dead, 0, -1, 'WITHSCORES')
for index = 1, #entries, 2 do
  local left, age = redis.call('SCARD', ownedKey(entries[index])), at - entries[index + 1]
  if left > 0 or age < noticeMs then
    table.insert(told, { entries[index], left })
  elseif age > ${REMEMBER_MS} then
    redis.call('ZREM', dead, entries[index])
  end
end
return { 'held', at, told }
`,
    (said: ['lost' | 'forgotten'] | ['held', number, [string, number][]]): Beaten =>
      said[0] === 'held'
        ? { state: 'held', beat: said[1], dead: said[2].map(([nodeId, left]) => ({ nodeId, left })) }
        : { state: said[0] },
  ),

  acquire: script(
    `
local node, chat, wasMine = ARGV[1], ARGV[2], ARGV[3] == '1'
if not lastBeat(node) then return { 'unknown' } end
local owner = redis.call('HGET', ownerKey(chat), 'node')
if owner and (owner == node or lastBeat(owner)) then return { 'owned', owner } end
local settlesIn = redis.call('PTTL', settling)
if not owner and not wasMine and settlesIn > 0 then return { 'settling', settlesIn } end
give(chat, node, owner)
return { 'owned', node }
`,
    (said: ['unknown'] | ['settling', number] | ['owned', string]): Answered => {
      if (said[0] === 'owned') return { state: 'owned', owner: said[1] };
      return said[0] === 'settling' ? { state: 'settling', forMs: said[1] } : { state: 'unknown' };
    },
  ),

  ownerOf: script(
    `
local owner = redis.call('HGET', ownerKey(ARGV[1]), 'node')
return owner and lastBeat(owner) and owner
`,
    asSaid<string | null>,
  ),

  /** Chats that the node knows to own, written again. Gives those that another has, who was heard lately. */
  claim: script(
    `
local node, lifeMs = ARGV[1], tonumber(ARGV[2])
local at, taken = now(), {}
for index = 3, #ARGV do
  local chat = ARGV[index]
  local owner = redis.call('HGET', ownerKey(chat), 'node')
  if owner and owner ~= node and (lastBeat(owner) or 0) > at - lifeMs then
    table.insert(taken, chat)
  else
    if owner then takeBack(chat, owner) end
    give(chat, node)
  end
end
return taken
`,
    asSaid<string[]>,
  ),

  release: script(
    `
local node = ARGV[1]
for index = 2, #ARGV do
  if redis.call('HGET', ownerKey(ARGV[index]), 'node') == node then takeBack(ARGV[index], node) end
end
`,
    nothing,
  ),

  /** Chats that the node does not know to own: whether it has got them, or given them up, it was never told. */
  disown: script(
    `
local node = ARGV[1]
for index = 2, #ARGV do
  if redis.call('HGET', ownerKey(ARGV[index]), 'node') == node then undo(ARGV[index], node) end
end
`,
    nothing,
  ),

  /** Of a node that was declared dead nothing is touched: it has left what it has left. */
  leave: script(
    `
local node = ARGV[1]
if not lastBeat(node) then return end
for _, chat in ipairs(redis.call('SMEMBERS', ownedKey(node))) do undo(chat, node) end
redis.call('ZREM', nodes, node)
`,
    nothing,
  ),
};

export type LeaseScripts = typeof LEASE_SCRIPTS;
