import {
  ChatError,
  type Chat,
  type EventBody,
  type Message,
  type Position,
  type Turn,
  raiseActivity,
} from '../../protocol/index.js';
import { isoNow } from '../clock.js';
import { FencedOut } from '../ports/fence.js';
import type { ChatLog, LoggedEvent } from '../ports/live-log.js';
import { mayRead, mayTalk } from './access.js';
import type { Effect } from './effect.js';
import type { Environment } from './environment.js';
import type { EndedAttempt, EndedTurn, LiveTurn } from './live-turn.js';
import { Mutex } from './mutex.js';
import { PendingAppends } from './pending-appends.js';
import { PresenceBoard } from './presence-board.js';
import type { Delivery, Source } from './pump.js';
import { ReadOverlay } from './read-overlay.js';
import { Recorder } from './recorder.js';
import { Sequences } from './sequences.js';
import { EventBatch, type EndOfFollowing, type Subscriber } from './subscriber.js';
import { TurnQueue } from './turn-queue.js';

/** One batch is at most so long, so that a slow reader's frames stay small. */
const BATCH_BYTES = 256 * 1024;
/** Ended turns whose answers are kept for an agent that repeats itself (AGT-1). */
const ENDED_KEPT = 64;
/** What those answers may hold together, beside the newest turn's. */
const ENDED_BYTES = 2 * 1024 * 1024;

/** Events that tell of a running attempt's messages: what the journal must hold to build them again. */
const JOURNALED = new Set<EventBody['type']>([
  'message.created',
  'message.appended',
  'message.replaced',
  'message.merged',
  'message.set',
  'message.closed',
  'message.updated',
  'message.deleted',
]);

/** Events that change or take away what stood in the chat; all others but some `message.created` leave what is closed alone. */
const TOUCHING = new Set<EventBody['type']>(['message.updated', 'message.deleted']);

/**
 * A chat in memory: the single writer of its sequences, offsets and state. What it does to the chat happens in one
 * synchronous step, or inside `commands`, which runs one command after another.
 */
export class ChatSession implements Source {
  readonly log: ChatLog;
  readonly sequences: Sequences;
  readonly commands = new Mutex();
  readonly queue = new TurnQueue();
  readonly presence: PresenceBoard;
  readonly recorder: Recorder;
  /** Turns that have not come to their end or are not stored yet, by request id. */
  readonly turns = new Map<string, LiveTurn>();
  /** The last ended turns, for repeated commands of their agents. */
  readonly ended = new Map<string, EndedAttempt>();
  /**
   * Turns whose write 1 may be stored and is not told of yet, with how they read until then; null: not at all. A row that
   * a reader finds before its event would stand twice in the reader's view (SUB-1).
   */
  readonly beginning = new Map<string, Turn | null>();
  /** Ids of messages that may be stored and are not told of yet: the same for those that no turn brings. */
  readonly untold = new Set<string>();
  isDeleted = false;
  /** LIF-4: another node has it. */
  hasMoved = false;
  /** Monotonic ms of the last event or reading. */
  lastUsed: number;

  readonly #subscribers = new Set<Subscriber>();
  readonly #overlays = new Set<ReadOverlay>();
  readonly #appends: PendingAppends;
  #outgoing: LoggedEvent[] = [];

  constructor(
    readonly env: Environment,
    public chat: Chat,
    nextSequence: number,
    /** Called when the chat may be free for its next turn. */
    private readonly onTurnOver: (session: ChatSession) => void,
  ) {
    this.sequences = new Sequences(nextSequence);
    this.log = env.liveLog.open(chat.chatId);
    this.lastUsed = env.clock.monotonic();
    this.recorder = new Recorder(env.journal);
    this.#appends = new PendingAppends(env.clock, env.coalescer, (body) =>
      this.#emit(body, this.turns.get(body.requestId ?? '')),
    );
    this.presence = new PresenceBoard(env.clock, (users) => {
      const presence = { chatId: this.chatId, users };
      for (const subscriber of this.#subscribers) subscriber.presence(presence);
    });
  }

  get chatId(): string {
    return this.chat.chatId;
  }

  get now(): string {
    return isoNow(this.env.clock);
  }

  /** Whether nothing here would be missed (LIF-3). */
  get isIdle(): boolean {
    return this.#subscribers.size === 0 && this.turns.size === 0 && this.#overlays.size === 0 && this.commands.isIdle;
  }

  /** Whether nothing runs in it, is being done to it, or has yet to be stored: another node could go on with it (LIF-4). */
  get isAtRest(): boolean {
    return this.commands.isIdle && ![...this.turns.values()].some(({ isBuffered }) => isBuffered);
  }

  /** @throws {ChatError} `not_found` once the chat is deleted; `storage_unavailable` once another node has it */
  mustExist(): void {
    if (this.isDeleted) throw new ChatError('not_found');
    if (this.hasMoved) throw new FencedOut(this.chatId);
  }

  // Publishing

  /** Gives every effect its place in the log, in order (TRN-4). */
  publish(effects: readonly Effect[], live?: LiveTurn): void {
    for (const effect of effects) {
      if (effect.kind === 'signal') {
        this.#signal(live, effect);
        continue;
      }
      if (effect.kind === 'step' && live?.isJournaled) this.recorder.note(live.key, ['step', effect.record]);
      if (effect.body.type === 'message.appended') this.#appends.add(effect.body);
      else this.emit(effect.body, live);
    }
  }

  /** Publishes one event; appends that wait go before it (SUB-6). */
  emit(body: EventBody, live?: LiveTurn): void {
    this.#appends.flushAppends();
    this.#emit(body, live);
  }

  #emit(body: EventBody, live?: LiveTurn): void {
    const event = this.log.append(body.type, (position) => this.#encode(position, body));
    this.recorder.event(event, live?.isJournaled && JOURNALED.has(body.type) ? live.key : null);
    if (body.type === 'message.created') this.#created(body.message);
    else if (TOUCHING.has(body.type)) this.env.revisions.raise(this.chatId);
    this.#outgoing.push(event);
    this.lastUsed = this.env.clock.monotonic();
    this.env.metrics.events.inc();
    this.env.pump.add(this);
  }

  /** Its place may be before others that were told of, where it was long on its way to the database. */
  #created(message: Message): void {
    this.chat = raiseActivity(this.chat, message);
    if (this.sequences.tell(message.sequence)) this.env.revisions.raise(this.chatId);
  }

  /**
   * By hand: ids, epoch and time need no escaping, and this is the hottest line of the server. Joined: a template would
   * leave the log a rope of a dozen pieces, twice as large as its text.
   */
  #encode({ epoch, offset }: Position, body: EventBody): string {
    const pieces = ['{"chatId":"', this.chatId, '","epoch":"', epoch, '","offset":', offset, ',"at":"', this.now, '",'];
    pieces.push(JSON.stringify(body).slice(1));
    return pieces.join('');
  }

  #signal(live: LiveTurn | undefined, { name, data }: Extract<Effect, { kind: 'signal' }>): void {
    if (!live || this.#subscribers.size === 0) return;
    this.settle();
    const signal = { chatId: this.chatId, requestId: live.requestId, name, data };
    this.env.pump.inOrder(() => {
      for (const subscriber of this.#subscribers) subscriber.signal(signal);
    });
  }

  /** Everything published has its place, and is handed out as soon as it is safe: the state as of `log.position`. */
  settle(): void {
    this.#appends.flushAppends();
    this.env.pump.flush();
  }

  /**
   * LIF-4: what comes now is seen here before other nodes could know of it, so that one that takes over may give the next
   * offsets to something else. They are therefore those of another epoch, and whoever follows is told so (SUB-4).
   */
  beginEpoch(): void {
    this.#appends.flushAppends();
    this.#outgoing = [];
    this.log.beginEpoch();
    this.emit({ type: 'chat.updated', chat: this.chat });
  }

  take(): Delivery {
    const events = this.#outgoing;
    this.#outgoing = [];
    return () => {
      // Of an epoch that was given up meanwhile nobody hears more: its next offsets may be another node's.
      if (events[0]?.epoch !== this.log.position.epoch) return;
      for (const batch of batches(this.chatId, events)) {
        for (const subscriber of this.#subscribers) subscriber.deliver(batch);
      }
      this.env.metrics.deliveries.inc(events.length * this.#subscribers.size);
    };
  }

  // Following

  attach(subscriber: Subscriber): void {
    if (this.#subscribers.has(subscriber)) return;
    this.#subscribers.add(subscriber);
    this.env.metrics.subscriptions.inc();
    this.presence.join(subscriber);
  }

  /** Ends a following; nothing more is delivered to it. */
  detach(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return;
    this.lastUsed = this.env.clock.monotonic();
    this.env.metrics.subscriptions.dec();
    this.presence.leave(subscriber);
  }

  /** Ends the followings of all but those who may stay (SUB-5). */
  expel(reason: EndOfFollowing, mayStay: (subscriber: Subscriber) => boolean = () => false): void {
    for (const subscriber of [...this.#subscribers]) {
      if (mayStay(subscriber)) continue;
      this.detach(subscriber);
      subscriber.ended(reason);
    }
  }

  /** Ends the followings of those who may read no more, and the typing of those who may not talk (ACC-4, SUB-5). */
  review(): void {
    this.expel('revoked', (subscriber) => mayRead(this.chat, subscriber.identity));
    this.presence.silence((identity) => mayTalk(this.chat, identity));
  }

  // Reading

  /** Collects what changes in stored rows while they are read. Always ended with `endRead`. */
  beginRead(): ReadOverlay {
    const overlay = new ReadOverlay();
    this.#overlays.add(overlay);
    return overlay;
  }

  endRead(overlay: ReadOverlay): void {
    this.#overlays.delete(overlay);
    this.lastUsed = this.env.clock.monotonic();
  }

  /** A stored message is another now, or (null) deleted. */
  messageStored(messageId: string, message: Message | null): void {
    for (const overlay of this.#overlays) overlay.messages.set(messageId, message);
  }

  /** The chat's last activity, raised as the store raises it with the same write. */
  raiseActivity(messages: Iterable<Message>, at: string): void {
    for (const message of messages) this.chat = raiseActivity(this.chat, message);
    if (at > this.chat.updatedAt) this.chat = { ...this.chat, updatedAt: at };
  }

  turnStored(turn: Turn): void {
    for (const overlay of this.#overlays) overlay.turns.set(turn.requestId, turn);
  }

  // Turns

  /** The foreground turn that is running, ending, or waits for a host. */
  get active(): LiveTurn | undefined {
    return this.queue.active;
  }

  /** Whether a message under this id is in a turn's buffer, or is being stored and not told of yet. */
  holds(messageId: string): boolean {
    const isInBuffer = (live: LiveTurn): boolean => live.isBuffered && live.messages.knows(messageId);
    return this.untold.has(messageId) || [...this.turns.values()].some(isInBuffer);
  }

  addTurn(live: LiveTurn): void {
    this.turns.set(live.requestId, live);
    this.ended.delete(live.requestId);
    this.env.ledger.add(live.requestId, this.chatId);
  }

  /** The turn is stored: its buffer is given up, and readers on their way are told what it held. */
  releaseTurn(live: LiveTurn, end: EndedTurn): void {
    for (const message of live.messages.messages) this.messageStored(message.messageId, message);
    for (const messageId of live.deletedStored) this.messageStored(messageId, null);
    this.turnStored(end.turn);
    if (this.turns.get(live.requestId) === live) this.turns.delete(live.requestId);
    this.lastUsed = this.env.clock.monotonic();
  }

  turnOver(): void {
    this.onTurnOver(this);
  }

  /** Keeps the answers of an ended turn's frames for a while. */
  remember(live: LiveTurn): void {
    this.ended.delete(live.requestId);
    const { turn, frames, answerBytes } = live;
    this.ended.set(live.requestId, { turn, frames, answerBytes });
    let bytes = 0;
    for (const ended of this.ended.values()) bytes += ended.answerBytes;
    for (const [requestId, ended] of this.ended) {
      const fits = this.ended.size <= ENDED_KEPT && bytes <= ENDED_BYTES;
      if (fits || requestId === live.requestId) break;
      bytes -= ended.answerBytes;
      this.ended.delete(requestId);
      if (!this.turns.has(requestId)) this.env.ledger.remove(requestId);
    }
  }

  /** Drops what is kept for replay and repetition; epoch and offset go on. */
  forgetPast(): void {
    this.log.clear();
    for (const requestId of this.ended.keys()) if (!this.turns.has(requestId)) this.env.ledger.remove(requestId);
    this.ended.clear();
  }

  /** Lets go of the chat: it is read anew when it is asked for again. */
  close(): void {
    this.log.close();
    this.recorder.close();
    for (const requestId of [...this.turns.keys(), ...this.ended.keys()]) this.env.ledger.remove(requestId);
  }
}

function* batches(chatId: string, events: readonly LoggedEvent[]): Generator<EventBatch> {
  let from = 0;
  let bytes = 0;
  for (const [index, event] of events.entries()) {
    if (index > from && bytes + event.json.length > BATCH_BYTES) {
      yield new EventBatch(chatId, events.slice(from, index));
      from = index;
      bytes = 0;
    }
    bytes += event.json.length;
  }
  if (from < events.length) yield new EventBatch(chatId, from === 0 ? events : events.slice(from));
}
