import type { SquadMessage, SquadStorage } from './conversation-message.js';
import type { SquadChats } from './session-chats.js';
import { SquadChatStorage, type SquadStorageOptions } from './squad-chat-storage.js';

/**
 * {@link SquadChatStorage} as a child of the framework's own `ChatStorage`, which comes in from outside: `instanceof` says
 * so, the inherited helpers are the framework's, and TypeScript takes it wherever a `ChatStorage` is wanted.
 */
export function createSquadStorage<T extends object>(
  ChatStorage: abstract new () => T,
  chats: SquadChats,
  options: SquadStorageOptions = {},
): T & SquadStorage {
  const storage = new SquadChatStorage(chats, options);
  // A class can extend a type parameter only by way of `any`; what is abstract in it is all defined below.
  const Parent = ChatStorage as unknown as new () => object;

  class TurnstreamChatStorage extends Parent implements SquadStorage {
    saveChatMessage(...args: Parameters<SquadStorage['saveChatMessage']>): Promise<SquadMessage[]> {
      return storage.saveChatMessage(...args);
    }

    saveChatMessages(...args: Parameters<SquadStorage['saveChatMessages']>): Promise<SquadMessage[]> {
      return storage.saveChatMessages(...args);
    }

    fetchChat(...args: Parameters<SquadStorage['fetchChat']>): Promise<SquadMessage[]> {
      return storage.fetchChat(...args);
    }

    fetchAllChats(...args: Parameters<SquadStorage['fetchAllChats']>): Promise<SquadMessage[]> {
      return storage.fetchAllChats(...args);
    }
  }

  return new TurnstreamChatStorage() as T & SquadStorage;
}
