import type { FactoryContext } from './agent-thread.js';
import { ChatMessageStore, type ChatMessageStoreOptions } from './chat-message-store.js';
import { ThreadChatMessageStore, type ThreadChatMessageStoreOptions } from './thread-chat-message-store.js';

/** Makes a store for each thread of an agent, new or resumed: `chatMessageStoreFactory` of its options in .NET. */
export const chatMessageStoreFactory =
  (options: Omit<ChatMessageStoreOptions, 'serializedState'>) =>
  ({ serializedState }: FactoryContext = {}): ChatMessageStore =>
    new ChatMessageStore({ ...options, serializedState });

/** The same in Python: `chat_message_store_factory`. A thread of its own each, so its options name none. */
export const threadMessageStoreFactory =
  (options: Omit<ThreadChatMessageStoreOptions, 'threadId'>) =>
  ({ serializedState }: FactoryContext = {}): ThreadChatMessageStore =>
    serializedState
      ? ThreadChatMessageStore.deserialize(serializedState, options)
      : new ThreadChatMessageStore(options);
