import { ChatError, type ErrorBody } from '../../protocol/index.js';
import type { Log } from '../log.js';
import type { Bus } from '../ports/bus.js';
import { Deferred } from '../session/deferred.js';
import { unanswered, unheard } from './not-here.js';

/** A message between nodes. What is raw is no JSON as a whole: it begins with another character. */
type Frame =
  | readonly ['ask', id: number, kind: string, body: unknown]
  | readonly ['answer', id: number, result: unknown]
  | readonly ['refuse', id: number, error: ErrorBody]
  | readonly ['tell', kind: string, body: unknown]
  /** Something of the other's was lost on its way. */
  | readonly ['missed']
  /** What the other was asked and has not answered: was it heard? */
  | readonly ['heard', ids: readonly number[]]
  /** These were not, and never will be. */
  | readonly ['unheard', ids: readonly number[]];

const RAW = '!';

/**
 * Questions and words between nodes, over a bus that keeps the order of each pair. Handlers begin in the order in which the
 * other node sent. A question whose answer cannot come any more (the other has died, or something that it said was lost) fails
 * as `storage_unavailable`; it may have been carried out. One that the other has never heard fails so too, and was not.
 */
export class Calls {
  readonly #asked = new Map<number, { readonly to: string; readonly answer: Deferred<unknown> }>();
  readonly #servants = new Map<string, (from: string, body: never) => Promise<unknown>>();
  readonly #hearers = new Map<string, (from: string, body: never) => void>();
  #onRaw: (from: string, text: string) => void = () => undefined;
  #ids = 0;
  /** What this node is about to answer, by who asks. */
  readonly #serving = new Map<string, Set<number>>();
  readonly #dead = new Set<string>();

  constructor(
    private readonly bus: Bus,
    private readonly log: Log,
  ) {
    bus.onMessage((from, message) => {
      try {
        this.#take(from, message);
      } catch (error) {
        // One that cannot be read must not cost those behind it.
        log.error({ err: error, from }, 'a message of another node failed');
      }
    });
    bus.onGap((from) => {
      this.fail(from);
      this.#send(from, ['missed']);
    });
  }

  /** @throws {ChatError} what the other throws; `storage_unavailable` where no answer comes */
  ask<T>(to: string, kind: string, body: unknown): Promise<T> {
    if (this.#dead.has(to)) return Promise.reject(unanswered());
    const id = ++this.#ids;
    const answer = new Deferred<unknown>();
    this.#asked.set(id, { to, answer });
    this.#send(to, ['ask', id, kind, body]);
    return answer.promise as Promise<T>;
  }

  tell(to: string, kind: string, body: unknown): void {
    this.#send(to, ['tell', kind, body]);
  }

  /** What needs no parsing on the way: one line of text after another, say. */
  raw(to: string, text: string): void {
    if (!this.#dead.has(to)) this.bus.send(to, RAW + text);
  }

  /** Answers questions of a kind. */
  serve<B>(kind: string, servant: (from: string, body: B) => Promise<unknown>): void {
    this.#servants.set(kind, servant);
  }

  /** Hears words of a kind. The listener does not throw. */
  hear<B>(kind: string, hearer: (from: string, body: B) => void): void {
    this.#hearers.set(kind, hearer);
  }

  hearRaw(hearer: (from: string, text: string) => void): void {
    this.#onRaw = hearer;
  }

  /** Nothing that the node was asked will be answered any more. */
  fail(nodeId: string): void {
    for (const [id, { to, answer }] of this.#asked) {
      if (to !== nodeId) continue;
      this.#asked.delete(id);
      answer.reject(unanswered());
    }
  }

  /**
   * The node has left, or was declared dead, which is final. It may have been paused, and not know it yet: what it says from
   * now on is not heard, because nobody would ever end what it begins.
   */
  bury(nodeId: string): void {
    this.#dead.add(nodeId);
    this.fail(nodeId);
    this.bus.forget(nodeId);
  }

  isBuried(nodeId: string): boolean {
    return this.#dead.has(nodeId);
  }

  #send(to: string, frame: Frame): void {
    if (!this.#dead.has(to)) this.bus.send(to, JSON.stringify(frame));
  }

  #take(from: string, message: string): void {
    if (this.#dead.has(from)) return;
    if (message.startsWith(RAW)) return this.#onRaw(from, message.slice(RAW.length));
    const frame = JSON.parse(message) as Frame;
    switch (frame[0]) {
      case 'tell':
        return this.#hearers.get(frame[1])?.(from, frame[2] as never);
      case 'ask':
        return void this.#serve(from, frame);
      case 'answer':
        return this.#answered(frame[1])?.resolve(frame[2]);
      case 'refuse':
        return this.#answered(frame[1])?.reject(ChatError.from(frame[2]));
      case 'missed':
        return this.#wasHeard(from);
      case 'heard': {
        // All that it asked before has come, or never will; all that was answered was answered before this.
        const serving = this.#serving.get(from);
        return this.#send(from, ['unheard', frame[1].filter((id) => !serving?.has(id))]);
      }
      case 'unheard':
        for (const id of frame[1]) this.#answered(id)?.reject(unheard());
    }
  }

  /** Which of its questions are among what was lost, only the other can tell. */
  #wasHeard(nodeId: string): void {
    const open = [...this.#asked].filter(([, { to }]) => to === nodeId).map(([id]) => id);
    if (open.length > 0) this.#send(nodeId, ['heard', open]);
  }

  /** Who waits for the answer, once. */
  #answered(id: number): Deferred<unknown> | undefined {
    const answer = this.#asked.get(id)?.answer;
    this.#asked.delete(id);
    return answer;
  }

  async #serve(from: string, [, id, kind, body]: Extract<Frame, readonly ['ask', ...unknown[]]>): Promise<void> {
    const serving = this.#serving.get(from) ?? new Set();
    this.#serving.set(from, serving.add(id));
    try {
      const servant = this.#servants.get(kind);
      // A node of a later version may ask what this one does not know.
      if (!servant) throw new ChatError('unsupported');
      this.#send(from, ['answer', id, await servant(from, body as never)]);
    } catch (error) {
      if (!(error instanceof ChatError)) this.log.error({ err: error, kind }, 'a question of another node failed');
      this.#send(from, ['refuse', id, (error instanceof ChatError ? error : new ChatError('internal')).body()]);
    } finally {
      serving.delete(id);
      if (serving.size === 0) this.#serving.delete(from);
    }
  }
}
