import { AnswerStream, isTerminator, type UiChunk, type UiMajor } from '../../protocol/ai-sdk/index.js';
import { isEnded, type Message, type Signal, type Turn } from '../../protocol/index.js';
import type { ChatClient } from '../chat-client.js';
import type { Chat } from '../chat.js';
import type { ChatSnapshot } from '../chat-snapshot.js';

export interface AnswerNeeds {
  readonly client: Pick<ChatClient, 'call'>;
  readonly chat: Chat;
  readonly turn: Turn;
  readonly major: UiMajor;
  readonly signal: AbortSignal | undefined;
  /** Told when the page gives up. */
  readonly aborted: () => void;
}

/**
 * One turn's answer as a stream of chunks, from its beginning. The chat is followed as long as somebody reads. A reader that
 * is behind is not told every state of a message, but the one that is true when he comes.
 */
export function answerStream(needs: AnswerNeeds): ReadableStream<UiChunk> {
  const source = new AnswerSource(needs);
  return new ReadableStream<UiChunk>({
    start: (controller) => source.start(controller),
    pull: () => source.look(),
    cancel: () => source.leave(),
  });
}

class AnswerSource {
  #answer: AnswerStream | null = null;
  /** What the answer was made from. */
  readonly #told = new Map<string, Message>();
  #leaves: (() => void)[] = [];
  #controller: ReadableStreamDefaultController<UiChunk> | null = null;
  #isAsking = false;
  #isLooking = false;
  /** The messages of a turn that had ended before its events came; empty where it had not. Null: nobody has asked. */
  #read: readonly Message[] | null = null;
  #turn: Turn;

  constructor(private readonly needs: AnswerNeeds) {
    this.#turn = needs.turn;
  }

  start(controller: ReadableStreamDefaultController<UiChunk>): void {
    const { chat, signal } = this.needs;
    this.#controller = controller;
    const aborted = (): void => this.#abort();
    chat.open();
    this.#leaves = [
      () => chat.close(),
      chat.view.subscribe(() => this.look()),
      chat.signals((hint) => this.#hint(hint)),
      () => signal?.removeEventListener('abort', aborted),
    ];
    if (signal?.aborted) return aborted();
    signal?.addEventListener('abort', aborted);
    this.look();
  }

  leave(): void {
    this.#controller = null;
    for (const leave of this.#leaves.splice(0)) leave();
  }

  /** Tells what is true now, if somebody waits for it. What is told may be asked for more at once. */
  look(): void {
    if (this.#isLooking || this.#controller === null || (this.#controller.desiredSize ?? 0) <= 0) return;
    this.#isLooking = true;
    const snapshot = this.needs.chat.view.getSnapshot();
    if (snapshot.status === 'ended') this.#fail(snapshot);
    else if (snapshot.status !== 'loading' && this.#answer === null) this.#begin(snapshot);
    else if (snapshot.status !== 'loading') this.#goOn(snapshot);
    this.#isLooking = false;
  }

  #begin(snapshot: ChatSnapshot): void {
    const { requestId } = this.#turn;
    if (snapshot.status !== 'live' || this.#isAsking) return;
    const known = snapshot.turns.get(requestId);
    if (isCut(snapshot, requestId)) return this.#ask(this.needs.chat.loadOlder(200));
    if (!known && this.#read === null) return this.#ask(this.#asIs());
    this.#turn = known ?? this.#turn;
    this.#tell(known ? this.#mine(snapshot) : (this.#read ?? []));
  }

  #tell(messages: readonly Message[]): void {
    const answer = new AnswerStream(this.#turn, this.needs.major);
    this.#answer = answer;
    for (const message of messages) this.#told.set(message.messageId, message);
    this.#put(answer.begin(messages));
    this.#endWith(this.#turn);
  }

  /** The turn is in no snapshot: it has ended, or its events are still to come. */
  async #asIs(): Promise<void> {
    const { client, chat } = this.needs;
    const { requestId } = this.#turn;
    this.#turn = (await client.call('turn:get', { requestId })).turn;
    const messages: Message[] = [];
    this.#read = messages;
    if (!isEnded(this.#turn.status)) return;
    for (let after = 0, hasMore = true; hasMore; after = messages.at(-1)?.sequence ?? after) {
      const page = await client.call('message:list', { chatId: chat.chatId, requestId, after, limit: 200 });
      messages.push(...page.messages);
      hasMore = page.hasMore && page.messages.length > 0;
    }
  }

  /** Looks again once it is there. */
  #ask(promise: Promise<unknown>): void {
    this.#isAsking = true;
    promise.then(
      () => {
        this.#isAsking = false;
        this.look();
      },
      (error: unknown) => this.#controller?.error(error),
    );
  }

  #goOn(snapshot: ChatSnapshot): void {
    const answer = this.#answer as AnswerStream;
    const messages = this.#mine(snapshot);
    const there = new Set(messages.map(({ messageId }) => messageId));
    const floor = snapshot.hasMore ? (snapshot.messages[0]?.sequence ?? Infinity) : 0;
    const gone = [...this.#told.values()].filter(
      ({ messageId, sequence }) => sequence >= floor && !there.has(messageId),
    );
    for (const { messageId } of gone) this.#told.delete(messageId);
    this.#put(answer.remove(gone.map(({ messageId }) => messageId)));
    for (const message of messages) {
      if (this.#told.get(message.messageId) === message) continue;
      this.#told.set(message.messageId, message);
      this.#put(answer.put(message));
    }
    const turn = snapshot.turns.get(this.#turn.requestId);
    if (turn) this.#endWith(turn);
  }

  #endWith(turn: Turn): void {
    if (isEnded(turn.status)) this.#put(this.#answer?.end(turn) ?? []);
  }

  #hint({ requestId, name, data }: Signal): void {
    if (requestId === this.#turn.requestId && this.#answer !== null)
      this.#put([{ type: `data-${name}`, data, transient: true }]);
  }

  #fail({ reason, error }: ChatSnapshot): void {
    const answer = this.#answer ?? new AnswerStream(this.#turn, this.needs.major);
    this.#put(answer.fail(error?.message ?? `The chat is followed no more: ${reason ?? 'ended'}.`));
  }

  #abort(): void {
    const controller = this.#controller;
    if (controller === null) return;
    this.leave();
    controller.error(this.needs.signal?.reason);
    this.needs.aborted();
  }

  #mine(snapshot: ChatSnapshot): Message[] {
    return snapshot.messages.filter(({ requestId }) => requestId === this.#turn.requestId);
  }

  #put(chunks: readonly UiChunk[]): void {
    const controller = this.#controller;
    if (controller === null) return;
    for (const chunk of chunks) controller.enqueue(chunk);
    if (!chunks.some(isTerminator)) return;
    this.leave();
    controller.close();
  }
}

/** Whether the turn may reach beyond what is held. */
const isCut = ({ messages, hasMore }: ChatSnapshot, requestId: string): boolean =>
  hasMore && messages[0]?.requestId === requestId;
