import { expect, test } from 'vitest';
import { faultsOf } from './compiled.js';

/** What a program that uses agent-squad and TypeScript writes. */
const PROGRAM = `
import { AgentSquad, ChatStorage, ParticipantRole, type ConversationMessage } from 'agent-squad';
import type { ChatCommands } from '../../protocol/index.js';
import { createSquadStorage, SquadChatStorage } from '../../stores/agent-squad/index.js';

declare const chats: ChatCommands;

const storage = createSquadStorage(ChatStorage, chats);
new AgentSquad({ storage });
const parent: ChatStorage = storage;
const message: ConversationMessage = { role: ParticipantRole.USER, content: [{ text: 'hi' }] };
export const saved: Promise<ConversationMessage[]> = storage.saveChatMessage('u', 's', 'a', message, 4);
export const fetched: Promise<ConversationMessage[]> = parent.fetchChat('u', 's', 'a');
export const batch = storage.saveChatMessages('u', 's', 'a', [message]);
export const plain = new SquadChatStorage((userId: string) => (userId === '' ? chats : chats)).fetchAllChats('u', 's');
// @ts-expect-error a storage takes messages, not texts
void storage.saveChatMessage('u', 's', 'a', 'hi');
// @ts-expect-error the framework's class alone says what a ChatStorage is
new AgentSquad({ storage: { fetchChat: storage.fetchChat } });
`;

test('agent-squad: the storage fits the framework’s own types', () => {
  expect(faultsOf(PROGRAM)).toEqual([]);
}, 120_000);
