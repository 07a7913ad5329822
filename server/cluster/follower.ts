import type { Position, Presence, Signal } from '../../protocol/index.js';
import type { LoggedEvent } from '../ports/live-log.js';
import type { Identity } from '../session/identity.js';
import { EventBatch, type EndOfFollowing, type Subscriber } from '../session/subscriber.js';

/**
 * A connection's following of a chat, wherever the chat is owned. The owner may change: what this has been given is known, so
 * that it can be followed from there at the next one.
 */
export class Follower implements Subscriber {
  /** The node that delivers; null while there is none. */
  owner: string | null = null;
  /** The last that was delivered, or stood in the answer. */
  position: Position | null = null;
  isOver = false;
  /** Whether its connection has had an answer: until then its question goes on to whoever owns the chat. */
  isAnswered = false;
  /** The identity that the owner knows. */
  told: Identity | null = null;

  /**
   * What came before it is known from where on it is wanted, or whether at all: a node hands what is said in a chat to all
   * who ask for it, and to one who may not follow it nothing may come.
   */
  #waiting: (() => void)[] | null = [];

  constructor(
    readonly followId: string,
    readonly chatId: string,
    private readonly to: Subscriber,
    private readonly onMoved: (follower: Follower) => void,
  ) {}

  get identity(): Identity {
    return this.to.identity;
  }

  isFor(subscriber: Subscriber): boolean {
    return this.to === subscriber && !this.isOver;
  }

  deliver(batch: EventBatch): void {
    if (this.isOver || batch.events.length === 0) return;
    if (this.#waiting) return void this.#waiting.push(() => this.deliver(this.#behind(batch)));
    const last = batch.events.at(-1);
    if (last) this.position = { epoch: last.epoch, offset: last.offset };
    this.to.deliver(batch);
  }

  signal(signal: Signal): void {
    if (this.#waiting) return void this.#waiting.push(() => this.signal(signal));
    if (!this.isOver) this.to.signal(signal);
  }

  presence(presence: Presence): void {
    if (this.#waiting) return void this.#waiting.push(() => this.presence(presence));
    if (!this.isOver) this.to.presence(presence);
  }

  ended(reason: EndOfFollowing): void {
    if (this.isOver) return;
    if (reason === 'moved') {
      this.owner = null;
      return this.onMoved(this);
    }
    // Behind what came before it, of the chat's deletion say.
    if (!this.isAnswered) return void this.#waiting?.push(() => this.ended(reason));
    this.isOver = true;
    this.to.ended(reason);
  }

  /** It is asked there whether it may follow, and from where on: what came from elsewhere meanwhile says nothing of that. */
  askAt(owner: string): void {
    this.owner = owner;
    if (this.#waiting) this.#waiting = [];
  }

  /** It stands at the position of its answer, unless what came since is further on. */
  hasAnswer({ epoch, offset }: Position): void {
    if (this.position?.epoch !== epoch || this.position.offset < offset) this.position = { epoch, offset };
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.endMove();
  }

  /** It is asked at another node what was missed: what comes from there meanwhile waits for the answer. */
  beginMove(): void {
    this.#waiting = [];
  }

  /** What was missed, and then what has come since. */
  endMove(...missed: EventBatch[]): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const batch of missed) this.deliver(this.#behind(batch));
    for (const hand of waiting) hand();
  }

  /** Without what was delivered already. */
  #behind(batch: EventBatch): EventBatch {
    const { position } = this;
    const isKnown = (event: LoggedEvent): boolean => event.epoch === position?.epoch && event.offset <= position.offset;
    return batch.events.some(isKnown)
      ? new EventBatch(
          batch.chatId,
          batch.events.filter((event) => !isKnown(event)),
        )
      : batch;
  }

  /**
   * What it follows goes on from a position that does not join on to what it was given. An event tells it so: whoever sees
   * another epoch subscribes again (SUB-4). It is an epoch that is nobody's: its connection may have asked by itself meanwhile,
   * and would take an event that stands at the very next position for the one that belongs there.
   */
  hasMissed(chat: object, position: Position, { epoch, at }: { readonly epoch: string; readonly at: string }): void {
    const [type, offset] = ['chat.updated', 1] as const;
    const json = JSON.stringify({ chatId: this.chatId, epoch, offset, at, type, chat });
    if (!this.isOver) this.to.deliver(new EventBatch(this.chatId, [{ epoch, offset, type, json }]));
    this.hasAnswer(position);
    this.endMove();
  }
}
