import type { Args, ChatCommandName, Result, SubscribeResult } from '../../../protocol/index.js';
import type { Identity } from '../identity.js';
import type { Subscriber } from '../subscriber.js';

/** The commands that act on more than the connection that sent them. */
export type DeskCommand = ChatCommandName | 'admin:revoke';

/**
 * Where people's commands arrive in the domain: every access check of the table's rights is made here, on every call
 * (CMD-1).
 */
export interface ChatDesk {
  /** `sent` is the arguments as they came: what a turn's fingerprint is made of (TRN-1). */
  run<N extends DeskCommand>(name: N, identity: Identity, args: Args<N>, sent: unknown): Promise<Result<N>>;
  subscribe(
    identity: Identity,
    args: Args<'chat:subscribe'>,
    subscriber: Subscriber,
  ): Promise<{ result: SubscribeResult; unsubscribe: () => void }>;
  /** Shows the others of a chat whether this follower is typing; `typist` names the connection. */
  typing(identity: Identity, args: Args<'typing'>, typist: object): Promise<void>;
  /** ACC-4: the identity of a connection that follows these chats has changed. Settles once what it may not follow has ended. */
  renewed(chatIds: readonly string[], typist: object): Promise<void>;
  /** The connection is closed: it types nowhere any more. */
  gone(typist: object): void;
}
