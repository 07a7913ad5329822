import type { ChatEvent, Position } from '../../../protocol/index.js';
import type { FakeLink, Sent } from './fake-transport.js';
import { ModelChat } from './model-chat.js';

/**
 * A server with one chat, over a network that keeps its order and may lose its end. Commands are taken one by one; an
 * answer speaks of the moment when its command was taken, and may be overtaken by events.
 */
export class ModelServer {
  readonly chat = new ModelChat();
  #link: FakeLink | null = null;
  #taken = 0;
  #subscribed = false;
  /** Answers that were made and not sent yet. */
  #answers: (() => void)[] = [];
  /** What is on its way to the client, in order. */
  #outgoing: (() => void)[] = [];

  /** @param onSnapshot told after a snapshot of this position has arrived: from this sequence on, the client is right at once */
  constructor(private readonly onSnapshot: (at: Position, from: number) => void) {}

  connect(link: FakeLink): void {
    this.disconnect();
    this.#link = link;
    this.#taken = 0;
  }

  disconnect(): void {
    this.#link = null;
    this.#subscribed = false;
    this.#answers = [];
    this.#outgoing = [];
  }

  publish(batch: readonly ChatEvent[]): void {
    const link = this.#link;
    if (link && this.#subscribed) this.#outgoing.push(() => link.emit('events', batch));
  }

  /** Takes the next command. @returns whether there was one */
  take(): boolean {
    const sent = this.#link?.sent[this.#taken];
    if (!sent) return false;
    this.#taken++;
    this.#serve(sent);
    return true;
  }

  /** Sends the oldest answer. @returns whether there was one */
  answer(): boolean {
    const answer = this.#answers.shift();
    if (answer) this.#outgoing.push(answer);
    return answer !== undefined;
  }

  /** Lets the next thing arrive. @returns whether there was one */
  deliver(): boolean {
    const next = this.#outgoing.shift();
    next?.();
    return next !== undefined;
  }

  /** Loses the next thing on its way, as no network does that keeps its promise. */
  lose(): void {
    this.#outgoing.shift();
  }

  #serve(sent: Sent): void {
    const { args } = sent;
    if (sent.command === 'chat:subscribe') {
      const answer = this.chat.subscribe(args['position'] as Position | undefined);
      this.#subscribed = true;
      this.#answers.push(() => {
        sent.ok(answer);
        if (answer.mode === 'replay') return;
        this.onSnapshot(answer.position, answer.hasMore ? (answer.messages?.[0]?.sequence ?? 0) : 0);
      });
    } else if (sent.command === 'chat:unsubscribe') {
      this.#subscribed = false;
      this.#answers.push(() => sent.ok({}));
    } else if (sent.command === 'message:list') {
      const page = this.chat.list(Number(args['before']), Math.min(Number(args['limit']), 3));
      this.#answers.push(() => sent.ok(page));
    } else {
      this.#answers.push(() => sent.refuse('not_found'));
    }
  }
}
