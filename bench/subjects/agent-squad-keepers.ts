import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { ChatCommands } from '../../protocol/index.js';
import { builtRooms } from './built.js';
import { agentSquad, type SqlStorage, type SquadMessage, type SquadStorage } from './frameworks.js';
import { NEWEST, QUESTION, type Keeper, type Kept } from './keeper.js';
import { repeatChat } from './repeat-chat.js';
import { ANSWER } from './seed.js';

const USER = 'user';
const AGENT = 'agent';
const question: SquadMessage = { role: 'user', content: [{ text: QUESTION }] };
const answer: SquadMessage = { role: 'assistant', content: [{ text: ANSWER }] };
const messageAt = (index: number): SquadMessage => (index % 2 === 0 ? question : answer);

const keptBy = (storage: SquadStorage, session: string): Kept => ({
  turn: async () => {
    await storage.saveChatMessage(USER, session, AGENT, question);
    await storage.saveChatMessage(USER, session, AGENT, answer);
  },
  newest: async () => (await storage.fetchChat(USER, session, AGENT, NEWEST)).length,
  whole: async () => (await storage.fetchChat(USER, session, AGENT)).length,
});

/** Our room, wherever the chats are. */
export async function squadRoom(chats: ChatCommands): Promise<Keeper> {
  const { createSquadStorage } = await builtRooms();
  const { ChatStorage } = agentSquad();
  return async (messages) => {
    const storage = createSquadStorage(ChatStorage, chats, { chatId: (_user, session) => session });
    const session = randomUUID();
    const kept = keptBy(storage, session);
    await kept.turn?.();
    await repeatChat(chats, session, messages);
    return kept;
  };
}

/** The framework's storage in memory. */
export function squadMemory(): Keeper {
  const { InMemoryChatStorage } = agentSquad();
  return async (messages) => {
    const storage = new InMemoryChatStorage();
    const rows = Array.from({ length: messages }, (_, index) => ({ ...messageAt(index), timestamp: index }));
    storage.conversations.set(`${USER}#s#${AGENT}`, rows);
    return keptBy(storage, 's');
  };
}

/** The framework's storage in a file, with the commit that it leaves out. */
export function squadSql(directory: string): Keeper {
  const { SqlChatStorage } = agentSquad();
  return async (messages) => {
    const path = join(directory, `${randomUUID()}.db`);
    const storage = new SqlChatStorage(`file:${path}`);
    await storage.waitForInitialization();
    fill(path, messages);
    commitInserts(storage);
    return keptBy(storage, 's');
  };
}

function fill(path: string, messages: number): void {
  const database = new Database(path);
  const insert = database.prepare('INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?)');
  database.transaction(() => {
    for (let index = 0; index < messages; index++) {
      const { role, content } = messageAt(index);
      insert.run(USER, 's', AGENT, index, role, JSON.stringify(content), index);
    }
  })();
  database.close();
}

/** Without a size, the last statement of a save is its INSERT. */
function commitInserts({ client }: SqlStorage): void {
  const begin = client.transaction.bind(client);
  client.transaction = async () => {
    const transaction = await begin();
    const execute = transaction.execute.bind(transaction);
    transaction.execute = async (statement) => {
      const result = await execute(statement);
      if ((statement as { sql: string }).sql.includes('INSERT')) await transaction.commit();
      return result;
    };
    return transaction;
  };
}

/** What the framework's storage does with a file as it is published. It takes SQLite's 5 s for a lock to be given up. */
export async function sqlAsPublished(directory: string): Promise<string> {
  const { SqlChatStorage } = agentSquad();
  const storage = new SqlChatStorage(`file:${join(directory, 'as-published.db')}`);
  await storage.waitForInitialization();
  const kept = keptBy(storage, 's');
  try {
    await kept.turn?.();
  } catch (error) {
    return `fails: ${error instanceof Error ? error.message : String(error)}`;
  }
  return `keeps ${await kept.whole?.()} of 2 messages`;
}
