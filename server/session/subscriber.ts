import type { Presence, Signal } from '../../protocol/index.js';
import type { LoggedEvent } from '../ports/live-log.js';
import type { Identity } from './identity.js';

/**
 * `deleted`: the chat is gone, as `chat.deleted` has said. `revoked`: this follower may not read it any more. `moved`: the chat
 * goes on at another node (LIF-4).
 */
export type EndOfFollowing = 'deleted' | 'revoked' | 'moved';

/** One connection's following of one chat: what a session needs of a socket or an SSE response. Calls never throw. */
export interface Subscriber {
  /** Who follows, as of now: an identity can be renewed in place. */
  readonly identity: Identity;
  deliver(batch: EventBatch): void;
  signal(signal: Signal): void;
  presence(presence: Presence): void;
  /** The session ended the following: nothing more comes of this chat (SUB-5). */
  ended(reason: EndOfFollowing): void;
}

/** Events of one chat with consecutive offsets, encoded once whatever the number of subscribers. */
export class EventBatch {
  #json: string | undefined;
  readonly #forms = new Map<unknown, unknown>();

  constructor(
    readonly chatId: string,
    readonly events: readonly LoggedEvent[],
  ) {}

  /** The JSON array of the events. */
  get json(): string {
    this.#json ??= `[${this.events.map((event) => event.json).join(',')}]`;
    return this.#json;
  }

  /** A form that a transport makes of the batch once and shares among its connections: one for each `encode`. */
  encoded<T>(encode: (batch: EventBatch) => T): T {
    if (!this.#forms.has(encode)) this.#forms.set(encode, encode(this));
    // What stands at a function is what that very function gave.
    return this.#forms.get(encode) as T;
  }
}
