export type { Backoff } from './backoff.js';
export type { CallOptions } from './caller.js';
export type { Chat, MessagePatch, StartOptions, TurnInput } from './chat.js';
export { createChatClient, type ChatClient, type ChatClientOptions } from './chat-client.js';
export type { ChatList, ChatListSnapshot } from './chat-list.js';
export type { ChatQuery } from './chat-query.js';
export type { ChatSnapshot, ChatStatus } from './chat-snapshot.js';
export type { SocketCommandName } from './client-command.js';
export type { Clock, Timer } from './clock.js';
export type { ConnectionState } from './connection-state.js';
export type { EndReason } from './following.js';
export type { IdSource } from './id-source.js';
export type { LocalReason } from './local-error.js';
export type { PendingInput } from './pending-inputs.js';
export type { ReadState } from './read-state.js';
export { createSocketTransport, type SocketTransportOptions } from './socket-transport.js';
export type { Store } from './store.js';
export type { ShownStep } from './turn-stores.js';
export type { DevelopmentAuth, TokenRequest, TokenSource } from './token.js';
export type { Handshake, Link, LinkListener, Transport } from './transport.js';
export type { WakeSource } from './wake.js';
export { ChatError } from '../protocol/index.js';
export type {
  Chat as ChatRow,
  ErrorCode,
  Hello,
  Json,
  JsonObject,
  Message,
  PresentUser,
  Step,
  StepSummary,
  Turn,
  User,
} from '../protocol/index.js';
