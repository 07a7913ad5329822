import type { Workload } from './workload.js';

/** What happens each second, and what there is at a time, in all nodes together. */
export interface Rates {
  readonly users: number;
  readonly turns: number;
  readonly runningTurns: number;
  /** Events of streams and of the lives of turns. */
  readonly events: number;
  /** Events times followers, wherever these are. */
  readonly deliveries: number;
  /** Nodes that a chat's events go to beside its owner. */
  readonly doorsPerChat: number;
  readonly messages: number;
  /** Messages of one sender to one receiver within one turn of the event loop, taken together. */
  readonly entries: number;
  /** Readings of inboxes: each takes all entries that are there. */
  readonly reads: number;
  readonly connects: number;
  readonly subscribes: number;
  readonly takes: number;
  /** Frames of people, each of which is counted in Redis. */
  readonly frames: number;
  /** Words to all other nodes of how much room an agent has. */
  readonly notices: number;
  readonly ownedChats: number;
}

/** Of a turn beside its text: queued, started, input and message created, message and turn ended, one step begun and ended. */
export const EVENTS_AROUND_A_TURN = 8;
/** Takes and gives back a place of an agent. */
const NOTICES_PER_AGENT_TURN = 2;
/** Question and answer between an agent's home and the owner of the chat. */
const MESSAGES_PER_PUSH = 2;
/** An event loop that is busy turns no faster. */
const LOOP_TURNS_PER_SECOND = 500;
/** A round trip to Redis, as seen by a reader of an inbox. */
const READS_PER_SECOND = 1_000;
/** A sender says this long after a message how many there were. */
const COUNT_SECONDS = 3;
const IDLE_READ_SECONDS = 3;

/** Of so many boxes those that are hit, when so many balls fall anywhere. */
export const boxesHit = (boxes: number, balls: number): number =>
  boxes <= 0 || balls === 0 ? 0 : boxes === 1 ? Math.min(1, balls) : boxes * (1 - (1 - 1 / boxes) ** balls);

/** Events a second of one running turn: tokens that come within a window are one event (SUB-6). */
export const eventsPerStream = ({ tokensPerSecond, coalesceMs }: Workload): number =>
  Math.min(tokensPerSecond, 1000 / coalesceMs);

/** @param nodes how many there are */
export function ratesOf(workload: Workload, nodes: number): Rates {
  const { connections, followersPerChat, remoteShare, tokensPerAnswer, tokensPerSecond, agentShare } = workload;
  const users = connections / workload.connectionsPerUser;
  const turns = (users * workload.turnsPerUserHour) / 3600;
  const runningTurns = (turns * tokensPerAnswer) / tokensPerSecond;
  const streamed = runningTurns * eventsPerStream(workload);
  const events = streamed + turns * EVENTS_AROUND_A_TURN;
  const others = nodes - 1;
  const away = others === 0 ? 0 : remoteShare;
  const doorsPerChat = boxesHit(others, followersPerChat * away);

  // Of an agent's turns all but one in `nodes` are owned elsewhere: its pushes cross, and come back as answers.
  const pushes = (streamed * agentShare * others) / nodes;
  const notices = others * turns * agentShare * NOTICES_PER_AGENT_TURN;
  const told = events * doorsPerChat;
  // What agents do waits for no window.
  const ofAgents = pushes * MESSAGES_PER_PUSH + notices;
  const messages = told + ofAgents;
  const counts = Math.min((nodes * others) / COUNT_SECONDS, messages);
  const entries =
    entriesOf(nodes, told, flushesPerSecond(workload)) + entriesOf(nodes, ofAgents, LOOP_TURNS_PER_SECOND) + counts;
  const reads = Math.min(entries, nodes * READS_PER_SECOND) + nodes / IDLE_READ_SECONDS;

  const connects = (connections * workload.reconnectsPerUserHour) / 3600;
  const opens = (users * workload.opensPerUserHour) / 3600;
  const subscribes = connects * workload.chatsPerConnection + opens;
  return {
    ...{ users, turns, runningTurns, events, doorsPerChat, messages, entries, reads, connects, subscribes, notices },
    deliveries: events * followersPerChat,
    // Opened ones, as a rule, are in nobody's hands; those of a connection that comes back often still are.
    takes: opens + subscribes * 0.1,
    frames: subscribes * 2 + turns,
    ownedChats: (connections * workload.chatsPerConnection) / followersPerChat,
  };
}

/** Each pair of nodes has at most one entry for each turn of the sender's event loop. */
function entriesOf(nodes: number, messages: number, turnsPerSecond: number): number {
  const turns = nodes * turnsPerSecond;
  return turns * boxesHit(nodes - 1, messages / turns);
}

/** Turns of one node's loop in which events go out: tokens further apart than a window come one by one, others share its windows. */
const flushesPerSecond = ({ tokensPerSecond, coalesceMs }: Workload): number =>
  1000 / tokensPerSecond >= coalesceMs ? LOOP_TURNS_PER_SECOND : 1000 / coalesceMs;
