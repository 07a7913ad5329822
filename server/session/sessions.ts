import type { Chat } from '../../protocol/index.js';
import { nextTick, pause, settlesWithin, type Timer } from '../clock.js';
import { FencedOut } from '../ports/fence.js';
import { ChatSession } from './chat-session.js';
import { abandonTurn, endTurn } from './end-turn.js';
import type { Environment } from './environment.js';
import { ALONE, type Holdings } from './holdings.js';
import { KeyedMutex } from './keyed-mutex.js';
import { advance } from './run-turn.js';
import { takeUp } from './take-up.js';

/** How often it is looked what nobody needs any more; more often where logs are kept for a shorter time. */
const SWEEP_MS = 10_000;
const SHORTEST_SWEEP_MS = 100;
/** How long a draining waits for writes that no running turn waits for. */
const LAST_WRITES_MS = 1000;

/** The chats in memory: each has one session, from the first who needs it until nobody would miss it (LIF-3). */
export class Sessions {
  readonly #sessions = new Map<string, ChatSession>();
  readonly #opening = new KeyedMutex();
  readonly #takingUp = new Map<string, ChatSession>();
  #sweeper: Timer | null = null;

  constructor(
    private readonly env: Environment,
    private readonly holdings: Holdings = ALONE,
  ) {
    env.metrics.beforeScrape(() => this.#measure());
    env.gate.onRoom(() => this.#advanceAll());
  }

  /** The session of a chat that is in memory. */
  get(chatId: string): ChatSession | undefined {
    return this.#sessions.get(chatId);
  }

  /** Whether the chat is in memory, or about to be: it is being read or made. */
  isNeeded(chatId: string): boolean {
    return this.#sessions.has(chatId) || this.#opening.isHeld(chatId);
  }

  /** Also of one that is being taken up, and that nobody may use yet. */
  orTakingUp(chatId: string): ChatSession | undefined {
    return this.get(chatId) ?? this.#takingUp.get(chatId);
  }

  /** The session that holds a turn in memory, live or just ended. */
  ofTurn(requestId: string): ChatSession | undefined {
    const chatId = this.env.ledger.chatOf(requestId);
    return chatId === undefined ? undefined : this.#sessions.get(chatId);
  }

  /** The chat's session, null for an unknown or deleted chat. */
  async open(chatId: string): Promise<ChatSession | null> {
    return this.get(chatId) ?? this.exclusively(chatId, () => this.#load(chatId));
  }

  /** The chat as it is now, without taking it into memory. */
  async chat(chatId: string): Promise<Chat | null> {
    return this.get(chatId)?.chat ?? this.env.store.getChat(chatId);
  }

  /** Runs work during which nobody else opens or creates the chat. */
  exclusively<T>(chatId: string, work: () => Promise<T>): Promise<T> {
    return this.#opening.run(chatId, work);
  }

  /** A session of a chat that is not stored yet; `keep` it once it is. */
  begin(chat: Chat): ChatSession {
    return this.#make(chat, 1);
  }

  keep(session: ChatSession): void {
    this.#sessions.set(session.chatId, session);
    this.#sweeper ??= this.env.clock.after(this.#sweepMs, () => this.#sweep());
  }

  /** Lets go of a chat that is deleted, or that nobody needs. */
  drop(session: ChatSession): void {
    if (this.#sessions.get(session.chatId) !== session) return session.close();
    this.#sessions.delete(session.chatId);
    session.close();
    void this.holdings.letGo(session.chatId, true);
  }

  /** LIF-4: gives a chat up to whichever node takes it next; what runs in it is left to that one. */
  async moveAway(session: ChatSession): Promise<void> {
    const { chatId, isAtRest } = session;
    session.settle();
    // In one step: a command that comes now finds that it is not here. Whoever takes it finds all that was recorded.
    const isGone = this.holdings.letGo(chatId, isAtRest, this.env.pump.waiting);
    this.abandon(chatId);
    await isGone;
  }

  /** LIF-4: the chat is another node's now. Its turns go on, and end, there; nothing more is stored or told of them here. */
  abandon(chatId: string): void {
    const session = this.#sessions.get(chatId);
    if (!session) return;
    this.#sessions.delete(chatId);
    for (const live of session.turns.values()) abandonTurn(session, live);
    session.hasMoved = true;
    session.expel('moved');
    session.close();
  }

  /** Ends running turns (LIF-1): they get `drainMs` to end by themselves. Queued ones stay stored as queued. */
  async drain(): Promise<void> {
    const { clock, settings, writes } = this.env;
    const deadline = clock.monotonic() + settings.drainMs;
    while (this.#running().length > 0 && clock.monotonic() < deadline) {
      await pause(clock, Math.min(20, settings.drainMs));
    }
    // Writes under way are waited for: their callers are answered, and a turn that was being opened comes to its end.
    await Promise.all([this.#endRunning(), settlesWithin(clock, writes.idle(), LAST_WRITES_MS)]);
    await nextTick(clock);
    await this.#endRunning();
    for (const session of this.#sessions.values()) session.settle();
  }

  close(): void {
    this.#sweeper?.cancel();
    for (const session of this.#sessions.values()) session.close();
  }

  *all(): Iterable<ChatSession> {
    yield* this.#sessions.values();
  }

  async #load(chatId: string): Promise<ChatSession | null> {
    const held = this.get(chatId);
    if (held) return held;
    const holding = this.holdings.mustHold(chatId);
    const chat = await this.env.store.getChat(chatId);
    if (!chat) return null;
    const session = this.#make(chat, await this.env.store.nextSequence(chatId));
    this.#takingUp.set(chatId, session);
    try {
      if (holding) await takeUp(session, holding);
      // It was lost, or given up, while it was read.
      if (this.holdings.holding(chatId) !== holding) throw new FencedOut(chatId);
    } catch (error) {
      // Whoever tries again takes it up from the beginning; where it is held anew already, it is.
      leave(session);
      if (this.holdings.holding(chatId) === holding) this.holdings.giveUp(chatId);
      throw error;
    } finally {
      this.#takingUp.delete(chatId);
    }
    if (holding?.isRecorded === false) session.beginEpoch();
    this.keep(session);
    return session;
  }

  #make(chat: Chat, nextSequence: number): ChatSession {
    const session = new ChatSession(this.env, chat, nextSequence, advance);
    session.recorder.record = this.holdings.holding(chat.chatId)?.record ?? null;
    return session;
  }

  /** Takes the queues up again, where what had stopped them is over. */
  #advanceAll(): void {
    for (const session of this.#sessions.values()) advance(session);
  }

  /** Also waits for those that are ending by themselves. */
  async #endRunning(): Promise<void> {
    await Promise.all(
      this.#running().map(({ session, live }) =>
        endTurn(session, live, { status: 'interrupted', stopReason: 'shutdown' }),
      ),
    );
  }

  #running() {
    return [...this.#sessions.values()].flatMap((session) =>
      [...session.turns.values()]
        .filter((live) => live.turn.status === 'running' || live.state.phase === 'ending')
        .map((live) => ({ session, live })),
    );
  }

  /** Drops what is kept beyond its time; a chat that nobody follows and that has nothing to replay costs nothing. */
  #sweep(): void {
    const { clock, settings } = this.env;
    for (const session of this.#sessions.values()) {
      const idleMs = clock.monotonic() - session.lastUsed;
      if (idleMs >= settings.logTtlMs) session.forgetPast();
      const isEmpty = session.log.bytes === 0;
      if (session.isIdle && isEmpty && idleMs >= this.#sweepMs) this.drop(session);
      else advance(session);
    }
    this.#sweeper = this.#sessions.size === 0 ? null : clock.after(this.#sweepMs, () => this.#sweep());
  }

  get #sweepMs(): number {
    return Math.min(SWEEP_MS, Math.max(SHORTEST_SWEEP_MS, this.env.settings.logTtlMs));
  }

  #measure(): void {
    const { metrics } = this.env;
    let bufferBytes = 0;
    let logBytes = 0;
    for (const session of this.#sessions.values()) {
      logBytes += session.log.bytes;
      for (const live of session.turns.values()) bufferBytes += live.bytes;
    }
    metrics.bufferBytes.set(bufferBytes);
    metrics.logBytes.set(logBytes);
    metrics.sessions.set(this.#sessions.size);
  }
}

/** Nothing of the session is stored or told from here any more. */
function leave(session: ChatSession): void {
  for (const live of session.turns.values()) abandonTurn(session, live);
  session.hasMoved = true;
  session.close();
}
