import type { Socket } from 'socket.io';
import {
  ChatError,
  commands,
  isJsonObject,
  parse,
  type CommandName,
  type GoawayCode,
  type SubscribeResult,
} from '../../protocol/index.js';
import type { DeskCommand } from '../session/desk/chat-desk.js';
import { userKey, type Identity } from '../session/identity.js';
import type { EventBatch, Subscriber } from '../session/subscriber.js';
import type { Caller, Provenance } from './caller.js';
import { CommandOrder } from './command-order.js';
import { ConnectionIdentity } from './connection-identity.js';
import { asChatError } from './as-chat-error.js';
import { helloTo } from './hello.js';
import { Outbox } from './outbox.js';
import { encodeEvent, encodeEvents, type EncodedEvent } from './socket-frame.js';
import { FrameSize, noSuchCommand, refusal, socketCommand } from './socket-command.js';
import { closeSoon, sayGoaway, warnGoaway } from './goaway.js';
import type { SocketNeeds } from './socket-needs.js';

/** A chat that this connection follows. */
interface Subscription {
  readonly subscriber: Subscriber;
  readonly unsubscribe: () => void;
}

/** A person's connection (sections 3 to 5). */
export class PeopleSocket {
  readonly outbox: Outbox;
  readonly #order = new CommandOrder();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Chats whose snapshot is being read. */
  readonly #subscribing = new Set<string>();
  readonly #frame: FrameSize;
  readonly #standing: ConnectionIdentity;
  #isOpen = true;

  constructor(
    private readonly socket: Socket,
    identity: Identity,
    private readonly from: Provenance,
    private readonly needs: SocketNeeds,
  ) {
    this.#frame = new FrameSize(socket, needs.limits.maxFrameBytes, needs.clock);
    this.outbox = new Outbox(socket.conn, {
      maxBytes: needs.maxOutboxBytes,
      isDirect: needs.isDirectFanOut,
      monotonic: () => needs.clock.monotonic(),
      onSlow: () => this.goaway('slow_consumer'),
    });
    this.#standing = new ConnectionIdentity(
      identity,
      from,
      { ...needs, mustFit: () => undefined },
      {
        expired: () => {
          warnGoaway(socket, 'token_expired');
          // What comes meanwhile waits, bounded like all that is not read, and is sent once it is known who reads it.
          this.outbox.hold();
        },
        renewed: async (isOther) => {
          if (isOther) await needs.desk.renewed([...this.#subscriptions.keys(), ...this.#subscribing], this);
          this.outbox.release();
        },
        lapsed: () => this.#leave(),
        revoked: () => this.goaway('revoked'),
      },
    );
    // Taken here and not as an event: whatever its name, in the order of frames.
    socket.use((event) => this.#take(event));
    socket.on('disconnect', () => this.#closed());
    socket.emit('hello', helloTo(socket.id, identity, needs));
  }

  /** Says why, and how long to stay away, then closes (CON-6). */
  goaway(code: GoawayCode, retryAfterMs?: number): void {
    if (!this.#isOpen) return;
    this.#closed();
    sayGoaway(this.socket, code, this.needs.clock, retryAfterMs);
  }

  /**
   * A command is counted when it comes and not when its time has come: so what waits for its time is bounded by what may
   * come at all. A refusal is told at once, and nothing of it waits: the closures below share what they close over, so
   * none of them may name `event` or `args`.
   */
  #take(event: readonly unknown[]): void {
    const bytes = this.#frame.of(event);
    const { name, args, ack } = socketCommand(event);
    let waiting: { readonly args: unknown } | null = { args };
    const refuse = (error: unknown): void => {
      waiting = null;
      ack(refusal(asChatError(error, this.needs.log, { connectionId: this.socket.id, command: name })));
      this.outbox.check();
    };
    const counted = this.needs.rateLimit.frame(this.#standing.identity, bytes).then(() => {
      this.#frame.mustFit(bytes);
      return commandNamed(name);
    });
    counted.catch(refuse);
    const isNewest = this.#copyOf(name, args);
    this.#order.run(chatOf(name, args), async () => {
      const isServed = isNewest() || this.#isOpen;
      try {
        const command = await counted;
        if (waiting && isServed) ack({ ok: true, data: await this.#run(command, waiting.args) });
      } catch (error) {
        if (waiting) refuse(error);
      }
      this.outbox.check();
    });
  }

  /** Whether it is the newest of a start's copies, to be asked when its time has come. */
  #copyOf(name: string, args: unknown): () => boolean {
    const requestId = isJsonObject(args) ? args['requestId'] : undefined;
    if (name !== 'turn:start' || typeof requestId !== 'string') return () => true;
    return this.needs.starts.add(JSON.stringify([userKey(this.#standing.identity), requestId]));
  }

  get #caller(): Caller {
    return { identity: this.#standing.identity, from: this.from };
  }

  async #run(name: CommandName, args: unknown): Promise<unknown> {
    const { dispatch, desk } = this.needs;
    if (name === 'auth:refresh')
      return this.#standing.renew(parse(commands[name].args, args ?? {}).token, this.socket.handshake.auth);
    await this.#standing.settled();
    this.#standing.mustStand();
    switch (name) {
      case 'chat:subscribe':
        return this.#subscribe(args);
      case 'chat:unsubscribe': {
        const { chatId } = parse(commands[name].args, args ?? {});
        this.#subscriptions.get(chatId)?.unsubscribe();
        this.#subscriptions.delete(chatId);
        return { chatId };
      }
      case 'typing': {
        const answer = await dispatch.typing(this.#caller, args, this);
        if (!this.#isOpen) desk.gone(this);
        return answer;
      }
      default:
        return dispatch.command(name satisfies DeskCommand, this.#caller, args);
    }
  }

  /** Twice on one connection is one subscription (SUB-5): the same subscriber goes on from the new position. */
  async #subscribe(args: unknown): Promise<SubscribeResult> {
    const { chatId } = parse(commands['chat:subscribe'].args, args ?? {});
    const held = this.#subscriptions.get(chatId);
    if (!held) this.#mustHaveRoom();
    this.#subscribing.add(chatId);
    try {
      const subscriber = held?.subscriber ?? this.#subscriberOf(chatId);
      const { result, unsubscribe } = await this.needs.dispatch.subscribe(this.#caller, args, subscriber);
      // Its end may have come before it was known to have begun.
      if (!this.#subscribing.has(chatId)) throw new ChatError('not_found');
      if (this.#isOpen) this.#subscriptions.set(chatId, { subscriber, unsubscribe });
      else unsubscribe();
      return result;
    } finally {
      this.#subscribing.delete(chatId);
    }
  }

  /** @throws {ChatError} `rate_limited` */
  #mustHaveRoom(): void {
    const max = this.needs.maxSubscriptionsPerConnection;
    const begun = [...this.#subscribing].filter((chatId) => !this.#subscriptions.has(chatId));
    if (this.#subscriptions.size + begun.length < max) return;
    throw new ChatError('rate_limited', 'This connection follows as many chats as one may.', {
      details: { limit: 'maxSubscriptionsPerConnection', max },
      retryAfterMs: 1000,
    });
  }

  #subscriberOf(chatId: string): Subscriber {
    const identity = (): Identity => this.#standing.identity;
    const send = (event: EncodedEvent): void => {
      if (this.#isOpen) this.outbox.send(event, subscriber);
    };
    const subscriber: Subscriber = {
      get identity() {
        return identity();
      },
      deliver: (batch: EventBatch) => send(batch.encoded(encodeEvents)),
      signal: (signal) => send(encodeEvent('signal', signal)),
      presence: (presence) => send(encodeEvent('presence', presence)),
      ended: (reason) => {
        this.#subscriptions.delete(chatId);
        this.#subscribing.delete(chatId);
        if (reason === 'deleted') return;
        this.outbox.forget(subscriber);
        send(encodeEvent('unsubscribed', { chatId }));
      },
    };
    return subscriber;
  }

  /** Closes without a word: it was told. */
  #leave(): void {
    if (!this.#isOpen) return;
    this.#closed();
    closeSoon(this.socket, this.needs.clock);
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const { unsubscribe } of this.#subscriptions.values()) unsubscribe();
    this.#subscriptions.clear();
    this.needs.desk.gone(this);
    this.#standing.close();
    this.outbox.close();
  }
}

/** @throws {ChatError} `bad_request` */
function commandNamed(name: string): CommandName {
  if (!Object.hasOwn(commands, name) || !commands[name as CommandName].socket) throw noSuchCommand();
  return name as CommandName;
}

/** The chat whose commands this one keeps in order with; null: it may be about any chat. */
function chatOf(name: string, args: unknown): string | null {
  if (name === 'chat:list' || name === 'auth:refresh') return `command ${name}`;
  const chatId = isJsonObject(args) ? args['chatId'] : undefined;
  return typeof chatId === 'string' ? chatId : null;
}
