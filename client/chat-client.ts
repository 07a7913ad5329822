import {
  ChatError,
  id as idSchema,
  parse,
  type ArgsInput,
  type Limits,
  type Presence,
  type Result,
  type Signal,
  type User,
  type Unsubscribed,
} from '../protocol/index.js';
import { isEventBatch } from './apply-events.js';
import { DEFAULT_BACKOFF, type Backoff } from './backoff.js';
import { Caller, type CallOptions } from './caller.js';
import { Chat } from './chat.js';
import { ChatList } from './chat-list.js';
import { newsOfAnswer, newsOfChat, type ChatNews } from './chat-news.js';
import { queryKey, type ChatQuery } from './chat-query.js';
import { ChatRegistry } from './chat-registry.js';
import type { SocketCommandName } from './client-command.js';
import { systemClock, type Clock } from './clock.js';
import { CommandQueue } from './command-queue.js';
import { closedError, Connection } from './connection.js';
import type { ConnectionState } from './connection-state.js';
import { systemIds, type IdSource } from './id-source.js';
import { createSocketTransport } from './socket-transport.js';
import { Interned } from './interned.js';
import { Held, Listeners, type Store } from './store.js';
import type { DevelopmentAuth, TokenSource } from './token.js';
import type { Transport } from './transport.js';
import { browserWake, type WakeSource } from './wake.js';

export interface ChatClientOptions {
  /** Where the server listens: `https://chat.example`. Not needed with a transport of one's own. */
  readonly url?: string;
  /** A token, or a function that is asked for one before each attempt to connect. Default: none. */
  readonly token?: TokenSource;
  /** Who the caller says to be, for a server without authentication. Default: the server's (`local`). */
  readonly auth?: DevelopmentAuth;
  /** Whether to connect at once; else with `connect()` or the first use. Default true. */
  readonly autoConnect?: boolean;
  /** Waits between attempts to connect, and to follow. Defaults: 250 ms … 10 s, factor 1.7, full jitter. */
  readonly backoff?: Partial<Backoff>;
  /** Limit on one attempt to connect, the token included, milliseconds. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** How long a command that was sent waits for its answer, milliseconds. Default 30,000. */
  readonly ackTimeoutMs?: number;
  /** Commands held back while there is no connection; more are refused as `queue_full`. Default 1,000. */
  readonly maxQueuedCommands?: number;
  /** Newest messages that a chat begins with, 1…200. Default 50. */
  readonly messageLimit?: number;
  /** How long a chat that nobody watches is still followed, milliseconds. Default 1,000. */
  readonly leaveGraceMs?: number;
  /** Chats not followed any more that keep what they showed. Default 20. */
  readonly maxLeftChats?: number;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** Tells when the page is back from sleep. Default: the browser's `online`, `pageshow` and `visibilitychange`. */
  readonly wake?: WakeSource;
  readonly transport?: Transport;
}

/** A person's connection to a server, and the chats on it. */
export interface ChatClient {
  /** The connection's state, for `useSyncExternalStore`. `hello` in the open state says who the caller is. */
  readonly connection: Store<ConnectionState>;
  /** Whether there is a connection, and every chat in use shows what is so at this moment. */
  readonly isUpToDate: Store<boolean>;
  /** The bounds that the server announced; the protocol's defaults before. */
  readonly limits: Limits;
  /** Begins to connect, also after the client was closed. */
  connect(): void;
  /**
   * Sends one command of the protocol's table. What the server would refuse for its form or size is refused here. The
   * answer is waited for over reconnections where sending again is harmless (C06).
   *
   * @throws {ChatError} the server's refusal, or one of the client's own, with `details.reason`: `no_answer`,
   *   `connection_lost`, `closed`
   */
  call<N extends SocketCommandName>(name: N, args: ArgsInput<N>, options?: CallOptions): Promise<Result<N>>;
  /** The chat of this id, the same object while anybody has it. @throws {ChatError} `bad_request`: not an id */
  chat(chatId: string): Chat;
  /**
   * The chats of a query, read page by page while somebody watches; the same object while anybody has it.
   *
   * @param pageSize rows of a page, 1…100, default 20
   */
  chats(query?: ChatQuery, pageSize?: number): ChatList;
  /** A new id, for a chat that is about to be created. */
  newId(): string;
  /** Ends the connection and settles everything that waits. Chats keep what they show. */
  close(): void;
}

/**
 * A client of one server. It comes back by itself after each lost connection, and asks for what the chats in use have
 * missed: none of their events is left out, none is shown twice (SUB-2).
 *
 * @throws {ChatError} `bad_request` without a url and without a transport
 */
export function createChatClient(options: ChatClientOptions): ChatClient {
  const { clock = systemClock, ids = systemIds, ackTimeoutMs = 30_000, maxQueuedCommands = 1_000 } = options;
  const transport = transportOf(options);
  const backoff: Backoff = { ...DEFAULT_BACKOFF, ...options.backoff };
  const { messageLimit = 50, leaveGraceMs = 1_000, wake = browserWake } = options;
  const chats = new ChatRegistry(options.maxLeftChats ?? 20);
  const lists = new Interned<ChatList>();
  const news = new Listeners<[ChatNews]>();
  const isUpToDate = new Held(false);
  let user: User | null = null;

  const connection = new Connection(
    {
      transport,
      token: options.token,
      auth: options.auth,
      clock,
      ids,
      backoff,
      wake,
      connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
      awaitHello: true,
    },
    {
      opened() {
        queue.flush();
        chats.forEach((chat) => chat.connected());
      },
      refreshed: () => queue.release(),
      lost() {
        queue.release();
        chats.forEach((chat) => chat.disconnected());
      },
      closed: () => queue.fail(closedError(connection.state.getSnapshot())),
      received,
    },
  );
  const queue = new CommandQueue(connection, { clock, maxQueuedCommands });
  const caller = new Caller(queue, connection, ids, ackTimeoutMs, (name, args, data) =>
    tell(newsOfAnswer(name, args, data)),
  );

  function tell(item: ChatNews | null): void {
    if (item) news.notify(item);
  }

  function lookUpToDate(): void {
    const isShown = (chat: Chat): boolean => ['live', 'ended'].includes(chat.view.getSnapshot().status);
    isUpToDate.set(connection.state.getSnapshot().status === 'open' && chats.every(isShown));
  }

  connection.state.subscribe(() => {
    const state = connection.state.getSnapshot();
    if (state.status === 'open' && state.hello) user = state.hello.user;
    lookUpToDate();
  });

  function received(event: string, body: unknown): void {
    if (event === 'events' && isEventBatch(body)) chats.incoming(body[0]?.chatId ?? '')?.events(body);
    else if (event === 'presence' && isAboutChat<Presence>(body)) chats.incoming(body.chatId)?.present(body.users);
    else if (event === 'signal' && isAboutChat<Signal>(body)) chats.incoming(body.chatId)?.signal(body);
    else if (event === 'unsubscribed' && isAboutChat<Unsubscribed>(body)) chats.incoming(body.chatId)?.revoked();
  }

  function createChat(chatId: string): Chat {
    return new Chat({
      chatId,
      caller,
      connection,
      clock,
      ids,
      backoff,
      ackTimeoutMs,
      messageLimit,
      leaveGraceMs,
      changed(after, before) {
        tell(newsOfChat(chatId, after, before));
        if (after.status !== before.status) lookUpToDate();
      },
      wire: (chat, incoming) => chats.wire(chat, incoming),
      used(chat, inUse) {
        chats.used(chat, inUse);
        lookUpToDate();
        if (inUse && connection.state.getSnapshot().status === 'idle') connection.connect();
      },
    });
  }

  function createList(query: ChatQuery, pageSize: number): ChatList {
    return new ChatList({
      query,
      pageSize,
      leaveGraceMs,
      list: (args) => caller.call('chat:list', args),
      connection: connection.state,
      news,
      user: () => user,
      clock,
      wake,
    });
  }

  if (options.autoConnect ?? true) connection.connect();

  return {
    connection: connection.state,
    isUpToDate,
    get limits() {
      return connection.limits;
    },
    connect: () => connection.connect(),
    async call(name, args, callOptions) {
      const result = await caller.call(name, args, callOptions);
      if (name === 'chat:create') chats.incoming((result as Result<'chat:create'>).chat.chatId)?.created();
      return result;
    },
    chat(chatId) {
      parse(idSchema, chatId, ['chatId']);
      return chats.get(chatId, () => createChat(chatId));
    },
    chats: (query = {}, pageSize = 20) =>
      lists.get(`${pageSize} ${queryKey(query)}`, () => createList(query, pageSize)),
    newId: () => ids.id(),
    close: () => connection.close(),
  };
}

function transportOf({ transport, url }: ChatClientOptions): Transport {
  if (transport) return transport;
  if (url === undefined) throw new ChatError('bad_request', 'A url is needed.');
  return createSocketTransport({ url });
}

function isAboutChat<T extends { chatId: string }>(body: unknown): body is T {
  return body !== null && typeof body === 'object' && 'chatId' in body && typeof body.chatId === 'string';
}
