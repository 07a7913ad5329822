import type { ChatError } from '../protocol/index.js';

/**
 * The one way to the server. Everything above it (back-off, queues, views) runs against this port, so that a test can
 * play the network.
 */
export interface Transport {
  /**
   * Begins one connection, and only one: trying again is the caller's business. No listener is called before this has
   * returned. Exactly one of `opened` and `refused` follows; after `opened`, `closed` follows at most once.
   */
  open(handshake: Handshake, listener: LinkListener): Link;
}

/** What the server learns when connecting (CON-1). */
export type Handshake = Readonly<Record<string, unknown>>;

export interface LinkListener {
  opened(): void;
  /** The connection was not made: the server's refusal, or `unreachable`. Nothing follows. */
  refused(error: ChatError): void;
  /** The connection is gone, in the transport's words. Nothing follows, no acknowledgement either. */
  closed(why: string): void;
  /** An event of the server, in the order sent. `reply` acknowledges it, once; null where the server wants none. */
  received(event: string, body: unknown, reply: ((answer: unknown) => void) | null): void;
}

/** One connection, from its beginning until it is closed by either side. */
export interface Link {
  /** Sends a command, in order. `acked` is called at most once, with what the server answered. Only while open. */
  send(command: string, args: unknown, acked: (ack: unknown) => void): void;
  /** Closes it. The listener hears nothing more. */
  close(): void;
}
