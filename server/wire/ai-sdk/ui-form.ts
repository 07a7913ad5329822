import {
  CURRENT_MAJOR,
  FollowedAnswer,
  isTerminator,
  wholeTurn,
  type AnswerPage,
  type UiChunk,
  type UiMajor,
} from '../../../protocol/ai-sdk/index.js';
import {
  solidFrom,
  type ChatCommands,
  type ChatError,
  type ChatEvent,
  type Signal,
  type SubscribeResult,
  type Turn,
} from '../../../protocol/index.js';
import type { TurnForm } from '../http/turn-stream.js';

/** There is no turn to tell: the route answers without a stream. */
export class NothingToFollow extends Error {}

export interface UiFormNeeds {
  readonly major: UiMajor;
  /** The turn to tell. @throws {NothingToFollow} */
  readonly choose: (turns: readonly Turn[]) => Promise<Turn>;
  readonly commands: ChatCommands;
}

/** A turn as a UI message stream of the AI SDK: always from its `start`, whatever the client has seen of it before. */
export class UiForm implements TurnForm {
  readonly namespace = 'ai-sdk';
  readonly head = { 'x-vercel-ai-ui-message-stream': 'v1' };
  #turn: Turn | null = null;
  #answer: FollowedAnswer | null = null;
  #isOver = false;

  constructor(private readonly needs: UiFormNeeds) {}

  get isOver(): boolean {
    return this.#isOver;
  }

  async begin(answer: SubscribeResult): Promise<string> {
    const turn = await this.needs.choose(answer.turns ?? []);
    this.#turn = turn;
    this.#answer = new FollowedAnswer(turn, this.needs.major);
    return this.#frames(this.#answer.begin(...(await this.#pagesOf(turn, answer))));
  }

  event(event: ChatEvent): string {
    return this.#frames(this.#answer?.event(event) ?? []);
  }

  signal(signal: Signal): string {
    return this.#frames(this.#answer?.signal(signal) ?? []);
  }

  again(answer: SubscribeResult): string {
    const turn = answer.turns?.find(({ requestId }) => requestId === this.#turn?.requestId);
    if (!turn) return this.#frames(this.#answer?.fail('The answer is over; load the conversation again.') ?? []);
    const page = { messages: answer.messages ?? [], offset: answer.position.offset };
    return this.#frames(this.#answer?.again(turn, page, solidFrom(answer)) ?? []);
  }

  cut(error: ChatError): string {
    const answer = this.#answer ?? (this.#turn && new FollowedAnswer(this.#turn, CURRENT_MAJOR));
    return this.#frames(answer?.fail(error.message) ?? []);
  }

  /** All messages of the turn: a long one reaches beyond the snapshot. */
  async #pagesOf({ chatId, requestId }: Turn, answer: SubscribeResult): Promise<AnswerPage[]> {
    const { messages = [], position } = answer;
    const pages = [{ messages, offset: position.offset }];
    const first = messages.find((message) => message.requestId === requestId);
    // Below an answer there may be more of it, behind messages of a parallel turn; below the input there is none.
    const isWhole = !answer.hasMore || (first?.role === 'user' && first.sequence > solidFrom(answer));
    if (isWhole) return pages;
    return [...pages, ...(await wholeTurn(this.needs.commands, { chatId, requestId }))];
  }

  #frames(chunks: readonly UiChunk[]): string {
    if (chunks.length === 0) return '';
    this.#isOver ||= chunks.some(isTerminator);
    // JSON has no line breaks of its own, so one `data` line holds it.
    const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    return this.#isOver ? `${text}data: [DONE]\n\n` : text;
  }
}
