export type { SquadContent, SquadMessage, SquadStorage } from './conversation-message.js';
export { createSquadStorage } from './create-squad-storage.js';
export type { SquadChats } from './session-chats.js';
export { SquadChatStorage, type SquadStorageOptions } from './squad-chat-storage.js';
