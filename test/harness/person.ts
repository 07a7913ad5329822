import type { Socket } from 'socket.io-client';
import { expect } from 'vitest';
import {
  foldChat,
  type ChatEvent,
  type ChatView,
  type Message,
  type Position,
  type Presence,
  type Result,
  type Signal,
  type SubscribeResult,
  type Turn,
} from '../../protocol/index.js';
import { Peer } from './peer.js';
import { until } from './until.js';

/** A chat as one connection follows it: folded strictly, so that any gap, repetition or misfit fails the test. */
export class FollowedChat {
  view: ChatView | null = null;
  /** Every event that was applied, in order. */
  readonly events: ChatEvent[] = [];
  #early: ChatEvent[][] = [];

  get messages(): readonly Message[] {
    return this.view?.messages ?? [];
  }

  get position(): Position | undefined {
    return this.view?.position;
  }

  /** The text of a turn's answer. */
  text(requestId: string): string {
    return this.messages
      .filter((message) => message.requestId === requestId && message.role === 'assistant')
      .map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : ''))
      .join('');
  }

  ends(requestId: string): Extract<ChatEvent, { type: 'turn.ended' }>[] {
    return this.events.filter((event) => event.type === 'turn.ended' && event.turn.requestId === requestId) as Extract<
      ChatEvent,
      { type: 'turn.ended' }
    >[];
  }

  expectAck(): void {
    this.#isWaiting = true;
  }

  #isWaiting = true;

  /** What came early on a connection that is gone belongs to no answer any more. */
  forgetEarly(): void {
    this.#early = [];
  }

  begin(answer: SubscribeResult): void {
    if (answer.mode === 'snapshot') {
      this.view = {
        chat: answer.chat,
        position: answer.position,
        messages: answer.messages ?? [],
        hasMore: answer.hasMore ?? false,
        turns: new Map((answer.turns ?? []).map((turn) => [turn.requestId, turn])),
        steps: new Map(),
        deleted: false,
      };
    } else {
      for (const event of answer.events ?? []) this.#apply(event);
      expect(this.view?.position, 'SUB-2: a replay ends at the position of the answer').toEqual(answer.position);
    }
    this.#isWaiting = false;
    for (const batch of this.#early.splice(0)) {
      for (const event of batch)
        if (event.epoch !== this.position?.epoch || event.offset > this.position.offset) this.#apply(event);
    }
  }

  receive(batch: ChatEvent[]): void {
    expect(batch.length, 'SUB-3: a batch is not empty').toBeGreaterThan(0);
    if (this.#isWaiting) this.#early.push(batch);
    else for (const event of batch) this.#apply(event);
  }

  #apply(event: ChatEvent): void {
    this.events.push(event);
    this.view = foldChat(this.view as ChatView, event);
  }
}

/** A person's connection. */
export class Person extends Peer {
  readonly chats = new Map<string, FollowedChat>();
  readonly signals: Signal[] = [];
  readonly presences: Presence[] = [];

  constructor(url: string, as?: Peer['as']) {
    super(url, '/', as);
  }

  protected override listen(socket: Socket): void {
    for (const chat of this.chats.values()) chat.forgetEarly();
    socket.on('signal', (signal: Signal) => this.signals.push(signal));
    socket.on('presence', (presence: Presence) => this.presences.push(presence));
    socket.on('events', (batch: ChatEvent[]) => {
      if (socket !== this.socket) return;
      this.chats.get(batch[0]?.chatId ?? '')?.receive(batch);
    });
  }

  async createChat(args: Record<string, unknown> = {}): Promise<string> {
    const { chat } = await this.do<Result<'chat:create'>>('chat:create', { assistantId: 'echo', ...args });
    return chat.chatId;
  }

  /** Follows a chat; again after a reconnect: from the position held. */
  async follow(chatId: string, { messageLimit = 200, fresh = false } = {}): Promise<FollowedChat> {
    const chat = fresh ? new FollowedChat() : (this.chats.get(chatId) ?? new FollowedChat());
    this.chats.set(chatId, chat);
    chat.expectAck();
    const { position } = chat;
    chat.begin(
      await this.do<SubscribeResult>('chat:subscribe', { chatId, messageLimit, ...(position ? { position } : {}) }),
    );
    return chat;
  }

  start(chatId: string, input: unknown, more: Record<string, unknown> = {}): Promise<Result<'turn:start'>> {
    return this.do('turn:start', { chatId, input, ...more });
  }

  /** The `turn.ended` of an attempt, once this person has seen it. */
  async ended(
    chatId: string,
    requestId: string,
    attempt = 1,
    ms?: number,
  ): Promise<Extract<ChatEvent, { type: 'turn.ended' }>> {
    return until(
      () =>
        this.chats
          .get(chatId)
          ?.ends(requestId)
          .find((event) => event.turn.attempt === attempt),
      `turn.ended of ${requestId}`,
      ms,
    );
  }

  async turn(requestId: string): Promise<Turn> {
    return (await this.do<Result<'turn:get'>>('turn:get', { requestId })).turn;
  }
}
