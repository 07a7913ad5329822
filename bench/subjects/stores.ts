import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatCommands } from '../../protocol/index.js';
import { squadMemory, squadRoom, squadSql, sqlAsPublished } from './agent-squad-keepers.js';
import { beeMemory, beeRoom } from './bee-keepers.js';
import { builtClient, builtRooms } from './built.js';
import { answerCommands, subjectOptions } from './child.js';
import { countSqlStorage } from './frameworks.js';
import { graphKeeper } from './graph-keepers.js';
import { NEWEST, type Keeper, type Kept } from './keeper.js';
import { embedded } from './embedded.js';
import { repeatChat } from './repeat-chat.js';
import { ANSWER } from './seed.js';
import { WriteCount } from './write-count.js';

/**
 * A program that uses frameworks: with Turnstream inside it, or, given the `url` of one, as its client. Times are taken
 * here, so that what the bench says to this program is not in them.
 */

const { url } = subjectOptions<{ url?: string }>();
const directory = mkdtempSync(join(tmpdir(), 'turnstream-bench-'));
const writes = new WriteCount();

async function host(): Promise<{ chats: ChatCommands; port: number }> {
  if (url !== undefined) {
    const { createChatClient } = await builtClient();
    return { chats: createChatClient({ url, auth: { userId: 'bench' } }), port: 0 };
  }
  const turnstream = await embedded(join(directory, 'turnstream'));
  return { chats: turnstream.as({ userId: 'bench' }), port: turnstream.port };
}

const { chats, port } = await host();
const { allMessages } = await builtRooms();

/** The chat itself, read without a framework's interface before it. */
const plainChat: Keeper = async (messages) => {
  const { chat } = await chats.call('chat:create', { assistantId: 'echo' });
  const { chatId } = chat;
  const draft = { type: 'text', props: { content: ANSWER } };
  await chats.call('message:save', {
    chatId,
    messages: [
      { role: 'user', ...draft },
      { role: 'assistant', ...draft },
    ],
  });
  await repeatChat(chats, chatId, messages);
  return {
    newest: async () => (await chats.call('message:list', { chatId, limit: NEWEST })).messages.length,
    whole: async () => (await allMessages(chats, { chatId })).length,
  };
};

const keepers = {
  chat: plainChat,
  squad: await squadRoom(chats),
  'squad-memory': squadMemory(),
  'squad-sql': squadSql(directory),
  bee: await beeRoom(chats, true),
  'bee-flushed': await beeRoom(chats, false),
  'bee-memory': beeMemory(),
  'graph-sync': graphKeeper(directory, 'sync'),
  'graph-async': graphKeeper(directory, 'async'),
} satisfies Record<string, Keeper>;

/** The names of ways to keep a conversation. */
export type Way = keyof typeof keepers;
export type Reading = 'newest' | 'whole' | 'reopened';

/** The conversations that are being measured. */
const kept = new Map<Way, readonly Kept[]>();
const keptBy = (way: Way): readonly Kept[] => kept.get(way) ?? [];

answerCommands(
  port,
  {
    open: async ({ way, messages, conversations }: { way: Way; messages: number; conversations: number }) => {
      const begun: Kept[] = [];
      for (let i = 0; i < conversations; i++) begun.push(await keepers[way](messages));
      kept.set(way, begun);
    },
    close: () => kept.clear(),
    /** Milliseconds of each turn, those of each conversation one after another. */
    turns: async ({ way, turns }: { way: Way; turns: number }): Promise<number[]> => {
      const took: number[] = [];
      for (const { turn } of keptBy(way))
        for (let i = 0; i < turns; i++) {
          const began = performance.now();
          await turn?.();
          took.push(performance.now() - began);
        }
      return took;
    },
    /** Milliseconds of each reading, and what was read; null where the contender cannot be asked for this. */
    read: async ({ way, what, times }: { way: Way; what: Reading; times: number }) => {
      const read = keptBy(way)[0]?.[what];
      if (!read) return null;
      // What is read a few times is long enough to need no warming up.
      let count = times > 2 ? await read() : null;
      const took: number[] = [];
      for (let i = 0; i < times; i++) {
        const began = performance.now();
        const found = await read();
        took.push(performance.now() - began);
        if (found !== (count ??= found)) throw new Error(`${what} is not the same twice`);
      }
      return { count, took };
    },
    /** Write transactions of so many turns in what is no Turnstream, by SQLite's statement hook. */
    countWrites: async ({ way, turns }: { way: 'squad-sql' | 'graph-sync' | 'graph-async'; turns: number }) => {
      countSqlStorage(writes);
      const durability = way === 'graph-sync' ? 'sync' : 'async';
      const keeper = way === 'squad-sql' ? keepers[way] : graphKeeper(directory, durability, writes);
      const { turn } = await keeper(10);
      const before = writes.transactions;
      for (let i = 0; i < turns; i++) await turn?.();
      countSqlStorage(null);
      return writes.transactions - before;
    },
    sqlAsPublished: () => sqlAsPublished(directory),
  },
  () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
);
