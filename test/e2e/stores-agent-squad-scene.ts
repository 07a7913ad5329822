import { SquadChatStorage, type SquadMessage, type SquadStorageOptions } from '../../stores/agent-squad/index.js';
import { startServer } from '../harness/server.js';
import { commandsOn, type Host } from './stores-hosts.js';

/** A server, somebody who runs commands on it, and a storage of theirs. */
export async function squad(host: Host, options: SquadStorageOptions = {}) {
  const server = await startServer();
  const chats = commandsOn(host, server);
  return { server, chats, storage: new SquadChatStorage(chats, options) };
}

export const user = (text: string): SquadMessage => ({ role: 'user', content: [{ text }] });
export const assistant = (text: string): SquadMessage => ({ role: 'assistant', content: [{ text }] });

export const texts = (messages: readonly SquadMessage[]): string[] =>
  messages.map(({ content }) => (content as { text: string }[]).map(({ text }) => text).join('+'));
export const roles = (messages: readonly SquadMessage[]): string => messages.map(({ role }) => role[0]).join('');

/** Saves texts one after the other, the user's first. */
export async function talk(
  storage: SquadChatStorage,
  texts: readonly string[],
  { agent = 'agent1', max }: { agent?: string; max?: number } = {},
): Promise<SquadMessage[]> {
  let last: SquadMessage[] = [];
  for (const [index, text] of texts.entries())
    last = await storage.saveChatMessage('user1', 'session1', agent, (index % 2 ? assistant : user)(text), max);
  return last;
}

export const pairs = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => [`q${index + 1}`, `a${index + 1}`]).flat();
