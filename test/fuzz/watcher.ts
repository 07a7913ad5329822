import { isDeepStrictEqual } from 'node:util';
import type { Socket } from 'socket.io-client';
import {
  isEnded,
  type Ack,
  type ChatEvent,
  type ChatView,
  type Message,
  type Position,
  type Signal,
  type SubscribeResult,
  type Turn,
} from '../../protocol/index.js';
import { plain } from '../harness/consistent.js';
import { FollowedChat, Person } from '../harness/person.js';
import type { As } from '../harness/peer.js';
import { pause } from './pause.js';

/** Views kept to compare with what others were shown at the same position. */
const VIEWS_KEPT = 400;

/** How long it is waited before a chat that is not to be found is asked for again. */
const AWAY_MS = 200;

/** Types of events that may follow the `turn.ended` of their turn's attempt: what people do to its messages. */
const AFTERWARDS = new Set<ChatEvent['type']>(['turn.persisted', 'turn.queued', 'message.updated', 'message.deleted']);

/** A page of messages at a position: a list, a snapshot, a history. */
export interface Page {
  readonly position: Position;
  readonly messages: readonly Message[];
  readonly turns?: readonly Turn[] | undefined;
}

interface WatchedNeeds {
  /** Whether a message may be told of behind others that stand after it: its way to the database was long. */
  readonly mayBeLate: (message: Message) => boolean;
  /** Whether the chat may go on elsewhere, under another epoch or behind a gap. */
  readonly mayMove: boolean;
  /** Whether what was shown may have been given up, with its sequences. */
  readonly mayGoBack: () => boolean;
  /** Called when there is a gap or another epoch. */
  readonly behind: (chatId: string) => void;
}

/** A followed chat that remembers how it looked, and checks what a fold does not: TRN-6, and sequences that only grow. */
export class WatchedChat extends FollowedChat {
  isFollowing = false;
  /** It has seen a gap, or another epoch, and has yet to ask again (SUB-4). */
  isBehind = false;
  /** Deletions that it was told of. */
  readonly deleted: string[] = [];
  readonly #views: ChatView[] = [];
  readonly #endedAttempts = new Map<string, number>();
  /** Attempts of which a `turn.ended` came. */
  readonly #told = new Set<string>();
  #checked = 0;
  #lastSequence = 0;
  #answered: Position | null = null;
  #isAsking = true;
  #held: ChatEvent[][] = [];

  constructor(private readonly needs: WatchedNeeds) {
    super();
  }

  override expectAck(): void {
    this.#isAsking = true;
    this.isBehind = false;
    super.expectAck();
  }

  override forgetEarly(): void {
    this.#held = [];
  }

  override begin(answer: SubscribeResult): void {
    this.isFollowing = true;
    this.#answered = answer.position;
    super.begin(answer);
    this.#isAsking = false;
    if (answer.mode === 'snapshot') {
      this.#endedAttempts.clear();
      for (const turn of answer.turns ?? [])
        if (isEnded(turn.status)) this.#endedAttempts.set(turn.requestId, turn.attempt);
      const newest = answer.messages?.at(-1)?.sequence ?? 0;
      this.#lastSequence = this.needs.mayGoBack() ? newest : Math.max(this.#lastSequence, newest);
    }
    this.#check();
    for (const batch of this.#held.splice(0)) this.#take(batch);
  }

  override receive(batch: ChatEvent[]): void {
    if (!this.isFollowing) throw new Error(`SUB-5: an event after the following had ended: ${batch[0]?.type}`);
    if (batch.length === 0) throw new Error('SUB-3: an empty batch');
    if (this.#isAsking) this.#held.push(batch);
    else this.#take(batch);
  }

  #take(batch: readonly ChatEvent[]): void {
    for (const event of batch) {
      if (this.isBehind) return;
      // SUB-3: what the answer held already may come behind it.
      if (event.epoch === this.#answered?.epoch && event.offset <= this.#answered.offset) continue;
      if (this.needs.mayMove && !this.#isNext(event)) {
        this.isBehind = true;
        return this.needs.behind(event.chatId);
      }
      super.receive([event]);
      this.#check();
    }
  }

  #isNext({ epoch, offset }: ChatEvent): boolean {
    return epoch === this.position?.epoch && offset === this.position.offset + 1;
  }

  /** Compares a page with the view at its position, where that is remembered. @returns what differs, or null */
  compare({ position, messages, turns = [] }: Page): string | null {
    const view = this.#views.find((held) => isDeepStrictEqual(held.position, position));
    if (!view) return null;
    const other = turns.find((turn) => !isDeepStrictEqual(turn, view.turns.get(turn.requestId) ?? turn));
    if (other) return `${JSON.stringify(other)} — ${JSON.stringify(view.turns.get(other.requestId))}`;
    const [first, last] = [messages[0], messages.at(-1)];
    if (!first || !last) return null;
    const floor = Math.max(first.sequence, view.hasMore ? (view.messages[0]?.sequence ?? Infinity) : 0);
    const within = ({ sequence }: Message): boolean => sequence >= floor && sequence <= last.sequence;
    return difference(messages.filter(within), view.messages.filter(within));
  }

  #check(): void {
    for (const event of this.events.slice(this.#checked)) this.#checkEvent(event);
    this.#checked = this.events.length;
    if (!this.view || this.#views.at(-1) === this.view) return;
    this.#views.push(this.view);
    if (this.#views.length > VIEWS_KEPT) this.#views.shift();
  }

  #checkEvent(event: ChatEvent): void {
    if (event.type === 'message.created') {
      if (event.message.sequence <= this.#lastSequence && !this.needs.mayBeLate(event.message)) {
        const { chatId, message, epoch, offset } = event;
        throw new Error(
          `sequence ${message.sequence} of ${message.messageId} after ${this.#lastSequence} in ${chatId} at ${epoch}:${offset}`,
        );
      }
      this.#lastSequence = Math.max(this.#lastSequence, event.message.sequence);
    }
    if (event.type === 'message.deleted') this.deleted.push(...event.messageIds);
    const { requestId } = event;
    if (requestId === undefined) return;
    const ended = this.#endedAttempts.get(requestId) ?? 0;
    if (event.type === 'turn.queued') {
      if (event.turn.attempt <= ended)
        throw new Error(`TRN-6: attempt ${event.turn.attempt} of ${requestId} begins after its end`);
      this.#endedAttempts.delete(requestId);
    } else if (event.type === 'turn.ended') {
      if (ended > 0)
        throw new Error(`TRN-6: a second turn.ended of ${requestId}, attempt ${event.turn.attempt} after ${ended}`);
      this.#endedAttempts.set(requestId, event.turn.attempt);
      const told = `${requestId}/${event.turn.attempt}`;
      if (this.#told.has(told)) throw new Error(`TRN-6: a second turn.ended of ${told}`);
      this.#told.add(told);
    } else if (ended > 0 && !AFTERWARDS.has(event.type)) {
      throw new Error(`TRN-6: ${event.type} of ${requestId} after its turn.ended`);
    }
  }
}

/** What differs between two lists of messages, null: nothing (DAT-4). */
export function difference(a: readonly Message[], b: readonly Message[]): string | null {
  const [left, right] = [a.map(plain), b.map(plain)];
  if (isDeepStrictEqual(left, right)) return null;
  const index = left.findIndex((message, at) => !isDeepStrictEqual(message, right[at]));
  const at = index < 0 ? left.length : index;
  return `at ${at} of ${left.length}/${right.length}: ${JSON.stringify(left[at])} — ${JSON.stringify(right[at])}`;
}

/** A person whose views are checked as they come. */
export class Watcher extends Person {
  readonly watched = new Map<string, WatchedChat>();
  #last: Promise<void> = Promise.resolve();

  constructor(
    url: string,
    as: As,
    private readonly needs: Omit<WatchedNeeds, 'behind'> & {
      /** How long an answer may take. */
      readonly answerMs: number;
      /** Called with whatever does not fit. */
      readonly fault: (what: string) => void;
      /** Called with a view before a snapshot replaces it. */
      readonly leaving: (chat: WatchedChat) => void;
    },
  ) {
    super(url, as);
  }

  protected override listen(socket: Socket): void {
    for (const chat of this.watched.values()) chat.forgetEarly();
    socket.on('signal', (signal: Signal) => {
      if (!this.watched.get(signal.chatId)?.isFollowing)
        this.needs.fault(`a signal of ${signal.chatId}, which is not followed`);
    });
    socket.on('events', (batch: ChatEvent[]) => {
      if (socket !== this.socket) return;
      try {
        const chat = this.watched.get(batch[0]?.chatId ?? '');
        if (!chat) throw new Error(`SUB-5: ${batch[0]?.type} of a chat that is not followed`);
        chat.receive(batch);
      } catch (error) {
        this.needs.fault(String(error));
      }
    });
  }

  /** Follows a chat, from the position held where there is one. */
  watch(chatId: string, { messageLimit = 200, fresh = false } = {}): Promise<void> {
    return this.#inTurn(() => this.#watch(chatId, messageLimit, fresh));
  }

  unwatch(chatId: string): Promise<void> {
    return this.#inTurn(async () => {
      // Its connection may have gone while it waited for its turn: nobody would answer.
      if (!this.socket.connected) return;
      const ack = await this.ask('chat:unsubscribe', { chatId }, this.needs.answerMs);
      const chat = this.watched.get(chatId);
      if (ack.ok && chat) chat.isFollowing = false;
    });
  }

  /** One question about followings at a time: a position is asked from only once what was asked before has come. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** SUB-4: asks again from the position held. */
  #again(chat: WatchedChat, chatId: string, messageLimit: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.watched.get(chatId) === chat && chat.isBehind) await this.#watch(chatId, messageLimit, false);
    }).catch(() => undefined);
  }

  async #watch(chatId: string, messageLimit: number, fresh: boolean): Promise<void> {
    if (!this.socket.connected) return;
    const before = this.watched.get(chatId);
    if (before) this.needs.leaving(before);
    const behind = (): void => void this.#again(chat, chatId, messageLimit);
    const chat = fresh || !before ? new WatchedChat({ ...this.needs, behind }) : before;
    this.watched.set(chatId, chat);
    chat.expectAck();
    chat.isFollowing = true;
    const { position } = chat;
    const { socket } = this;
    const ack = await this.#subscribe({ chatId, messageLimit, ...(position ? { position } : {}) });
    if (!ack?.ok) {
      this.watched.delete(chatId);
      return;
    }
    if (socket !== this.socket) return;
    try {
      chat.begin(ack.data);
    } catch (error) {
      this.needs.fault(String(error));
    }
  }

  /** Asked again while it is not known where the chat is. @returns null where the connection is gone */
  async #subscribe(args: object): Promise<Ack<SubscribeResult> | null> {
    const { socket, needs } = this;
    for (;;) {
      const ack = (await this.ask('chat:subscribe', args, needs.answerMs)) as Ack<SubscribeResult>;
      if (ack.ok || !needs.mayMove || ack.error.code !== 'storage_unavailable') return ack;
      await pause(AWAY_MS);
      if (!socket.connected || socket !== this.socket) return null;
    }
  }
}
