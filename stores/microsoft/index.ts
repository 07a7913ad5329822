export {
  AgentThread,
  type AgentMessageStore,
  type AgentThreadState,
  type FactoryContext,
  type MessageStoreFactory,
} from './agent-thread.js';
export { textMessage, textOf, type ChatContent, type ChatMessage } from './chat-message.js';
export { ChatMessageStore, type ChatMessageStoreOptions, type ReducerTrigger } from './chat-message-store.js';
export {
  AgentThreadException,
  ArgumentException,
  ArgumentNullException,
  IndexError,
  ValueError,
} from './exceptions.js';
export { chatMessageStoreFactory, threadMessageStoreFactory } from './factories.js';
export { MemoryChatMessageStore } from './memory-chat-message-store.js';
export type { ChatReducer } from './reduction.js';
export {
  ThreadChatMessageStore,
  type ThreadChatMessageStoreOptions,
  type ThreadState,
} from './thread-chat-message-store.js';
