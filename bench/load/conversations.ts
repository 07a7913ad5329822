import { answerCommands, subjectOptions } from '../subjects/child.js';
import { Conversation, type ChatDelays, type Pace } from './conversation.js';
import { many } from './many.js';
import { Delays, noFaults, type Faults } from './turns-heard.js';

/** A share of the load on several nodes, in a process of its own: chats of which each has followers on all nodes. */

export interface ConversationsOptions extends Pace {
  /** Ports of the nodes. */
  readonly ports: readonly number[];
}

/** A chat, and how many connections follow it. */
export interface AskedChat {
  readonly chatId: string;
  /** Which of the nodes owns it. */
  readonly owner: number;
  readonly followers: number;
}

/** Tokens and frames, of all followers together. */
export interface Heard {
  readonly heard: number;
  readonly frames: number;
}

export interface Told extends Heard {
  readonly turns: number;
  /** Tokens that were to be heard. */
  readonly expected: number;
  readonly faults: Faults;
  readonly bytes: number;
  /** Connections that were closed by the other side. */
  readonly closed: number;
  /** Turns that ran at a time. */
  readonly running: number;
  /** Tokens that a running turn said in a second. */
  readonly heldPerSecond: number;
  readonly own: [ms: number, count: number][];
  readonly other: [ms: number, count: number][];
}

const AT_ONCE = 32;
/** Without a token in so long, nothing more will come. */
const SILENCE_MS = 10_000;

const { ports, ...pace } = subjectOptions<ConversationsOptions>();
const delays: ChatDelays = { own: new Delays(), other: new Delays() };
let conversations: readonly Conversation[] = [];
let talking: Promise<unknown> = Promise.resolve();
let talkedMs = 0;

const sum = (of: (conversation: Conversation) => number): number =>
  conversations.reduce((all, conversation) => all + of(conversation), 0);

async function allHeard(): Promise<void> {
  let heard = sum((each) => each.heard);
  for (let quietSince = performance.now(); performance.now() - quietSince < SILENCE_MS;) {
    const now = sum((each) => each.heard);
    if (now >= sum((each) => each.expected)) return;
    if (now !== heard) quietSince = performance.now();
    heard = now;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function told(): Told {
  const faults = noFaults();
  for (const conversation of conversations)
    for (const [name, count] of Object.entries(conversation.faults())) faults[name as keyof Faults] += count;
  const runningMs = sum(({ runningMs }) => runningMs);
  return {
    ...{ faults, turns: sum(({ turns }) => turns), running: runningMs / talkedMs, closed: sum(({ closed }) => closed) },
    ...{ expected: sum(({ expected }) => expected), heard: sum(({ heard }) => heard) },
    ...{ frames: sum(({ frames }) => frames), bytes: sum(({ bytes }) => bytes) },
    heldPerSecond: sum(({ said }) => said) / (sum(({ saidInMs }) => saidInMs) / 1000),
    ...{ own: delays.own.toJSON(), other: delays.other.toJSON() },
  };
}

answerCommands(0, {
  gather: async ({ chats }: { chats: readonly AskedChat[] }) => {
    conversations = chats.map(({ chatId }) => new Conversation(chatId, pace, delays));
    await many(chats.length, AT_ONCE, async (index) => {
      const { owner = 0, followers = 0 } = chats[index] ?? {};
      for (let i = 0; i < followers; i++) {
        const node = (owner + i) % ports.length;
        await conversations[index]?.join(ports[node] ?? 0, node === owner);
      }
    });
  },

  /** Turn after turn in each chat. @returns what was heard when so much time was up, while the last turns still run */
  talk: async ({ ms }: { ms: number }): Promise<Heard> => {
    talkedMs = ms;
    const endMs = performance.now() + ms;
    const count = conversations.length;
    // Their first turns are of different lengths, so that they do not all end at once.
    talking = Promise.all(conversations.map((each, i) => each.talkUntil(endMs, (i + 1) / count)));
    // A turn that fails ends the load at once.
    await Promise.race([talking, new Promise((resolve) => setTimeout(resolve, ms))]);
    return { heard: sum((each) => each.heard), frames: sum((each) => each.frames) };
  },

  /** Resolves when the last turn has been heard by all. */
  finish: async (): Promise<Told> => {
    await talking;
    await allHeard();
    return told();
  },

  checkStored: () => many(conversations.length, AT_ONCE, async (i) => conversations[i]?.checkStored()),
});
