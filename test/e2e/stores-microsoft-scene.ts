import type { JsonObject } from '../../protocol/index.js';
import { textMessage, textOf, type ChatMessage } from '../../stores/microsoft/index.js';
import { allMessages } from '../../stores/pages.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { commandsOn, type Host } from './stores-hosts.js';

/** A server, and Ann's commands on it. */
export async function scene(host: Host) {
  const server = await startServer();
  const chats = commandsOn(host, server);
  /** The chat of a new thread, which Ann follows; other programs write into it. */
  const thread = async () => {
    const chatId = uid('thread');
    await chats.call('chat:create', { chatId, assistantId: 'echo' });
    const ann = await new Person(server.url, { userId: 'ann' }).open();
    const view = await ann.follow(chatId);
    const say = (role: 'user' | 'assistant', content: string, metadata: JsonObject | null = null) =>
      chats.call('message:save', { chatId, messages: [{ role, type: 'text', props: { content }, metadata }] });
    return { chatId, ann, view, say, rows: () => allMessages(chats, { chatId }) };
  };
  return { server, chats, thread };
}

export const user = (text: string, more: Partial<ChatMessage> = {}) => textMessage('user', text, more);
export const answer = (text: string, more: Partial<ChatMessage> = {}) => textMessage('assistant', text, more);
export const texts = (messages: readonly ChatMessage[]) => messages.map(textOf);

/** All that a message may hold. */
export const RICH: ChatMessage[] = [
  {
    role: 'user',
    messageId: 'a framework id: ü',
    authorName: 'Ann',
    additionalProperties: { nested: { list: [1, null, 'x'] } },
    createdAt: '2026-01-01T00:00:00+00:00',
    contents: [
      { $type: 'text', text: 'look: àéèï 👀' },
      { type: 'data', uri: 'data:image/png;base64,aGVsbG8=', mediaType: 'image/png' },
      { type: 'uri', uri: 'https://example.org/a.pdf', mediaType: 'application/pdf' },
    ],
  },
  { role: 'assistant', contents: [{ type: 'functionCall', callId: 'c', name: 'roll', arguments: { n: 2 } }] },
  { role: 'tool', contents: [{ type: 'functionResult', callId: 'c', result: [1, 2] }] },
  {
    role: 'assistant',
    authorName: 'Joker',
    contents: [
      { type: 'custom', whatever: { a: true } },
      { type: 'text', text: 'ha' },
    ],
  },
  { role: 'developer', contents: [] },
];
