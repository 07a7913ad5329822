import {
  ChatError,
  isEnded,
  isResumable,
  type ArgsInput,
  type ChatEvent,
  type ChatPatch,
  type Message,
  type PresentUser,
  type Result,
  type Signal,
  type Turn,
} from '../protocol/index.js';
import type { Backoff } from './backoff.js';
import type { Caller, CallOptions } from './caller.js';
import { clientCommand, type ClientCommand } from './client-command.js';
import { chatSnapshot, type ChatSnapshot } from './chat-snapshot.js';
import type { Clock } from './clock.js';
import type { Connection } from './connection.js';
import { Following } from './following.js';
import type { IdSource } from './id-source.js';
import type { MessagePage } from './lay-page.js';
import { MessageStores } from './message-stores.js';
import { OlderPages } from './older-pages.js';
import { PendingInputs } from './pending-inputs.js';
import type { ReadState } from './read-state.js';
import { Residence } from './residence.js';
import { Held, Listeners, type Store } from './store.js';
import { TurnStores, type ShownStep } from './turn-stores.js';

export type TurnInput = NonNullable<ArgsInput<'turn:start'>['input']>;
/** What a start may say besides its input; `requestId` is made where none is given. */
export type StartOptions = CallOptions & Omit<ArgsInput<'turn:start'>, 'chatId' | 'input' | 'regenerate'>;
export type MessagePatch = Omit<ArgsInput<'message:update'>, 'messageId'>;

export interface ChatNeeds {
  readonly chatId: string;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly backoff: Backoff;
  readonly ackTimeoutMs: number;
  readonly messageLimit: number;
  readonly leaveGraceMs: number;
  /** Told when somebody begins to use the chat, and when the last one has left it. */
  readonly used: (chat: Chat, inUse: boolean) => void;
  /** Told of each change of what the chat looks like, after those who watch it. */
  readonly changed: (chat: ChatSnapshot, before: ChatSnapshot) => void;
  /** Given the chat's end of the connection, once. */
  readonly wire: (chat: Chat, incoming: Incoming) => void;
}

/**
 * One chat: what it looks like now, and what can be done in it. It is followed on the server while anybody watches its
 * view or its signals, or holds it open; a short absence is bridged.
 */
export class Chat {
  readonly chatId: string;
  readonly #following: Following;
  readonly #older: OlderPages;
  readonly #pending = new PendingInputs();
  readonly #signals = new Listeners<[Signal]>();
  readonly #residence: Residence;
  readonly #snapshot: Held<ChatSnapshot>;
  readonly #messages: MessageStores;
  readonly #turns: TurnStores;
  #opened: (() => void)[] = [];
  #typing = false;

  /** What the chat looks like, for `useSyncExternalStore`; to subscribe is to follow. */
  readonly view: Store<ChatSnapshot>;

  constructor(private readonly needs: ChatNeeds) {
    const { chatId, caller, clock, leaveGraceMs } = needs;
    this.chatId = chatId;
    this.#following = new Following({
      ...needs,
      timeoutMs: needs.ackTimeoutMs,
      changed: (events) => this.#changed(events),
    });
    this.#older = new OlderPages({
      following: this.#following,
      list: (before, limit, answered) => {
        caller.call('message:list', { chatId, before, limit }).then(
          (page: MessagePage) => answered({ page }),
          (error: ChatError) => answered({ error }),
        );
      },
    });
    this.#residence = new Residence(clock, leaveGraceMs, {
      enter: () => {
        needs.used(this, true);
        this.#following.follow();
      },
      leave: () => {
        this.#following.leave();
        needs.used(this, false);
      },
    });
    const snapshot = new Held(this.#derive(null));
    this.#snapshot = snapshot;
    this.view = {
      getSnapshot: snapshot.getSnapshot,
      subscribe: (listener) => this.#watch(snapshot.subscribe(listener)),
    };
    this.#messages = new MessageStores(
      () => snapshot.getSnapshot().messages,
      (end) => this.#watch(end),
    );
    this.#turns = new TurnStores({ caller, view: this.view });
    needs.wire(this, {
      connected: () => this.#following.connected(),
      disconnected: () => {
        this.#typing = false;
        this.#following.disconnected();
      },
      events: (batch) => this.#following.events(batch),
      present: (users) => this.#following.present(users),
      signal: (signal) => this.#signals.notify(signal),
      revoked: () => this.#following.revoked(),
      created: () => this.#lookAgain(),
      forget: () => this.#following.forget(),
    });
  }

  /** The ids of the messages, in order: the same reference until one comes or goes. To subscribe is to follow. */
  get messageIds(): Store<readonly string[]> {
    return this.#messages.ids;
  }

  /** One message, whose watchers are told when it changes, and only then; null while it is not held. To subscribe is to follow. */
  message(messageId: string): Store<Message | null> {
    return this.#messages.of(messageId);
  }

  /** One turn, also one that is older than what is held. To subscribe is to follow. */
  turn(requestId: string): Store<ReadState<Turn>> {
    return this.#turns.turn(requestId);
  }

  /** The steps of a turn, ascending. To subscribe is to follow, and to ask for them. */
  steps(requestId: string): Store<ReadState<readonly ShownStep[]>> {
    return this.#turns.steps(requestId);
  }

  /** Follows the chat until {@link close} has been called as often. */
  open(): void {
    this.#opened.push(this.#residence.enter());
  }

  close(): void {
    this.#opened.pop()?.();
  }

  /** Calls the listener with every signal (SUB-8). To listen is to follow. @returns ends it */
  signals(listener: (signal: Signal) => void): () => void {
    return this.#watch(this.#signals.add(listener));
  }

  /**
   * Starts a turn, once, whatever happens to the connection (C06). The input stands in `pending` at once; where it is
   * refused it stays there with the reason, until {@link retry} or {@link dismiss}.
   *
   * @throws {ChatError} the refusal
   */
  start(input: TurnInput, options: StartOptions = {}): Promise<Result<'turn:start'>> {
    return this.#start({ input }, options);
  }

  /** Answers the input of an ended turn anew (TRN-11). @throws {ChatError} `conflict`: not the newest, or not ended */
  regenerate(requestId: string, options: StartOptions = {}): Promise<Result<'turn:start'>> {
    return this.#start({ regenerate: requestId }, options);
  }

  /** Sends a refused input again, as the same request. @throws {ChatError} the refusal; `not_found`: none was refused */
  async retry(requestId: string): Promise<Result<'turn:start'>> {
    const command = this.#pending.retry(requestId);
    if (!command) throw new ChatError('not_found', `No input ${requestId} was refused.`);
    return this.#submit(requestId, command);
  }

  /** Takes an input out of `pending`. One that the server did get appears as a message all the same. */
  dismiss(requestId: string): void {
    this.#pending.remove(requestId);
    this.#refresh();
  }

  /**
   * Stops a turn: the one named, else the running foreground turn, else the input that is on its way (C59).
   *
   * @throws {ChatError} `not_found` where nothing is there to stop
   */
  stop(requestId?: string): Promise<Result<'turn:stop'>> {
    const target = requestId ?? this.#snapshot.getSnapshot().running?.requestId ?? this.#pending.newest;
    return this.needs.caller.call('turn:stop', { chatId: this.chatId, ...(target ? { requestId: target } : {}) });
  }

  /**
   * Starts the next attempt of an incomplete turn: the one named, else the newest.
   *
   * @throws {ChatError} `turn_not_resumable`, `not_found`
   */
  resume(which: { readonly requestId?: string; readonly attempt?: number } = {}): Promise<Result<'turn:resume'>> {
    const turn = which.requestId ? this.#following.view?.turns.get(which.requestId) : this.#newestIncomplete();
    const requestId = which.requestId ?? turn?.requestId;
    const attempt = which.attempt ?? (turn && isEnded(turn.status) ? turn.attempt + 1 : undefined);
    return this.needs.caller.call('turn:resume', {
      chatId: this.chatId,
      ...(requestId === undefined ? {} : { requestId }),
      ...(attempt === undefined ? {} : { attempt }),
    });
  }

  /** @throws {ChatError} `forbidden`: only its creator or an admin changes a chat */
  update(patch: ChatPatch): Promise<Result<'chat:update'>> {
    return this.needs.caller.call('chat:update', { ...patch, chatId: this.chatId });
  }

  /** Deletes the chat with all that it holds, for good (CMD-3). */
  delete(): Promise<Result<'chat:delete'>> {
    return this.needs.caller.call('chat:delete', { chatId: this.chatId });
  }

  /** @throws {ChatError} `conflict`: the message is still open (CMD-4) */
  updateMessage(messageId: string, patch: MessagePatch): Promise<Result<'message:update'>> {
    return this.needs.caller.call('message:update', { ...patch, messageId });
  }

  /** @returns those that were deleted */
  async deleteMessages(messageIds: readonly string[]): Promise<readonly string[]> {
    const args = { chatId: this.chatId, messageIds: [...messageIds] };
    return (await this.needs.caller.call('message:delete', args)).messageIds;
  }

  /**
   * Loads older messages into the view, at most `limit` (1…200, default 50). Resolves when they are there, or when there
   * are none. During another call it is answered with that one.
   */
  loadOlder(limit = 50): Promise<void> {
    return this.#older.load(limit);
  }

  /** Shows the others whether this person is typing. It is of the moment: without a connection nothing is sent or kept. */
  setTyping(typing: boolean): void {
    const { connection, ackTimeoutMs } = this.needs;
    if (typing === this.#typing || !connection.isOpen) return;
    this.#typing = typing;
    connection.request('typing', { chatId: this.chatId, typing }, ackTimeoutMs, () => undefined);
  }

  async #start(
    what: { input: TurnInput } | { regenerate: string },
    options: StartOptions,
  ): Promise<Result<'turn:start'>> {
    const { timeoutMs, ...said } = options;
    const requestId = said.requestId ?? this.needs.ids.id();
    const args = { ...said, ...what, chatId: this.chatId, requestId };
    const command = clientCommand('turn:start', args, this.needs.ids);
    this.#pending.add(requestId, command);
    this.#refresh();
    return this.#submit(requestId, command, timeoutMs === undefined ? {} : { timeoutMs });
  }

  async #submit(requestId: string, command: ClientCommand, options: CallOptions = {}): Promise<Result<'turn:start'>> {
    this.#refresh();
    try {
      const result = (await this.needs.caller.send(command, options)) as Result<'turn:start'>;
      this.#accepted(requestId, result.duplicate);
      return result;
    } catch (error) {
      this.#pending.refuse(requestId, error as ChatError);
      this.#refresh();
      throw error;
    }
  }

  /** An accepted input stays in `pending` until its events have come, so that it is never out of sight. */
  #accepted(requestId: string, duplicate: boolean): void {
    const { phase, generation } = this.#following;
    if (duplicate || phase.name === 'idle') this.#pending.remove(requestId);
    else this.#pending.accept(requestId, generation);
    this.#lookAgain();
    this.#refresh();
  }

  /** The chat exists now: whoever was told that it does not asks again. */
  #lookAgain(): void {
    const { phase } = this.#following;
    if (phase.name === 'ended' && phase.reason === 'not_found') this.#following.follow();
  }

  #newestIncomplete(): Turn | undefined {
    const view = this.#following.view;
    if (!view) return undefined;
    for (let index = view.messages.length - 1; index >= 0; index--) {
      const requestId = view.messages[index]?.requestId ?? null;
      const turn = requestId === null ? undefined : view.turns.get(requestId);
      if (turn && isResumable(turn)) return turn;
    }
    return undefined;
  }

  #watch(end: () => void): () => void {
    const leave = this.#residence.enter();
    return () => {
      end();
      leave();
    };
  }

  #changed(events: readonly ChatEvent[]): void {
    this.#older.changed(events);
    this.#refresh();
  }

  #refresh(): void {
    const { view, generation } = this.#following;
    if (view) this.#pending.prune(view, generation);
    const before = this.#snapshot.getSnapshot();
    const after = this.#derive(before);
    if (after === before) return;
    this.#turns.changed(after, before);
    this.#snapshot.set(after);
    this.#messages.tell();
    this.needs.changed(after, before);
  }

  #derive(before: ChatSnapshot | null): ChatSnapshot {
    const { view, phase, presence } = this.#following;
    return chatSnapshot(
      { view, phase, presence, pending: this.#pending.inputs, isBeingCreated: this.#pending.createsChat },
      before,
    );
  }
}

/** What reaches a chat from its client. */
export interface Incoming {
  connected(): void;
  disconnected(): void;
  events(batch: readonly ChatEvent[]): void;
  present(users: readonly PresentUser[]): void;
  signal(signal: Signal): void;
  revoked(): void;
  created(): void;
  forget(): void;
}
