import type { SubscribeResult } from '../commands.js';
import type { ErrorBody } from '../error.js';
import type { ChatEvent, MessageChange } from '../event.js';
import { foldChat, type ChatView } from '../fold.js';
import type { Json, JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { Signal } from '../presence.js';
import { viewOf } from '../snapshot-view.js';
import type { StepSummary } from '../step.js';
import { isEnded, type Turn } from '../turn.js';
import { cutOf, endOf } from './ends.js';
import { AG_UI_VERSION, type AgUiEvent } from './event.js';
import { agUiMessages } from './history.js';
import { HeldBack } from './held-back.js';
import { isActivity, kindOf } from './kind.js';
import { ClientList } from './client-list.js';
import type { AgUiMessage } from './message.js';
import { isUpToDate } from './news.js';
import type { SentMessage } from './run-input.js';
import { SharedState } from './shared-state.js';
import { isState, resultOf } from './shown.js';
import { OpenSteps } from './open-steps.js';

export interface RunOptions {
  readonly threadId: string;
  /** The turn that is told; null: none, there is only the conversation to show. */
  readonly requestId: string | null;
  /** What the run is called where it is no turn. */
  readonly runId: string;
  /** Whether the client speaks AG-UI 1.0. */
  readonly isOne: boolean;
  /** The conversation as the client has sent it. */
  readonly sent: readonly SentMessage[];
  /** The state as the client has sent it. */
  readonly state: Json | undefined;
  /** Whether the client may have heard a part of the run, or none of it: it is told the whole conversation. */
  readonly joins: boolean;
}

/**
 * One turn told in events of AG-UI, in an order that its verifier accepts, whatever the chat's events are: it begins with
 * RUN_STARTED and ends with exactly one RUN_FINISHED or RUN_ERROR, with everything closed.
 *
 * What AG-UI has no words for (a text that is rewritten, a message that is taken away) is told by ending what is open, a
 * MESSAGES_SNAPSHOT, and beginning what was open anew. What others say in the chat meanwhile comes with the next
 * snapshot, at the end of the run at the latest: a client then holds the conversation as it stands.
 */
export class AgUiRun {
  readonly #steps = new OpenSteps();
  readonly #heldBack = new HeldBack();
  #view: ChatView | null = null;
  /** The conversation has changed beside this turn, and the client has not been told. */
  #isStale = false;
  #isOver = false;

  readonly #list: ClientList;
  readonly #state: SharedState;
  /** Until the run has begun: it may be large, and a run may last. */
  #sent: readonly SentMessage[];
  readonly #options: Omit<RunOptions, 'sent' | 'state'>;

  constructor({ sent, state, ...options }: RunOptions) {
    this.#options = options;
    this.#sent = sent;
    this.#list = new ClientList(sent);
    this.#state = new SharedState(state);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @param steps those of the turn, as far as the caller may know them */
  begin(answer: SubscribeResult, steps: readonly StepSummary[]): AgUiEvent[] {
    const view = (this.#view = viewOf(answer));
    return this.#noted([
      this.#started(),
      ...this.#prelude(view),
      ...this.#state.begin(this.#stateIn(view)),
      ...this.#resume(view, steps),
    ]);
  }

  event(event: ChatEvent): AgUiEvent[] {
    const before = this.#view;
    if (this.#isOver || before === null) return [];
    const view = (this.#view = foldChat(before, event));
    // Before what it comes with: the end of a run is the last of all.
    return this.#noted([...this.#state.change(this.#stateIn(view)), ...this.#told(before, view, event)]);
  }

  #told(before: ChatView, view: ChatView, event: ChatEvent): AgUiEvent[] {
    switch (event.type) {
      case 'turn.started':
        return this.#isMine(event.turn) && this.#isStale ? this.#restate(before, view) : [];
      case 'turn.ended':
        return this.#isMine(event.turn) ? this.#end(view, event.turn) : [];
      case 'message.created':
        return this.#created(before, view, event.message);
      case 'message.appended':
      case 'message.replaced':
      case 'message.merged':
      case 'message.set':
      case 'message.closed':
        return this.#changed(before, view, event);
      case 'message.updated':
        return this.#restateIfShown(before, view, [event.message.messageId]);
      case 'message.deleted':
        return this.#restateIfShown(before, view, event.messageIds);
      case 'step.started':
        return this.#isMine(event.step) ? this.#steps.start(event.step) : [];
      case 'step.ended':
        return this.#isMine(event.step) ? this.#steps.finish(event.step.stepId) : [];
      default:
        return [];
    }
  }

  /** Events were missed. Steps that ended meanwhile are ended with the run. */
  again(answer: SubscribeResult): AgUiEvent[] {
    const before = this.#view;
    if (this.#isOver || before === null) return [];
    const view = (this.#view = viewOf(answer));
    return this.#noted([
      ...this.#restate(before, view),
      ...this.#state.change(this.#stateIn(view)),
      ...this.#resume(view, []),
    ]);
  }

  /** A live hint of an assistant. */
  signal({ requestId, name, data }: Signal): AgUiEvent[] {
    if (this.#isOver || requestId !== this.#options.requestId) return [];
    return [{ type: 'CUSTOM', name, value: data }];
  }

  /** The stream ends here though the turn may go on. */
  cut(error: ErrorBody): AgUiEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const view = this.#view;
    return [...(view ? this.#finishAll(view) : []), cutOf(error)];
  }

  /** The newest message of the type `state` says what the state is. */
  #stateIn({ messages }: ChatView): JsonObject | undefined {
    return messages.findLast((message) => isState(message) && this.#isTold(message))?.props;
  }

  #noted(events: AgUiEvent[]): AgUiEvent[] {
    this.#list.note(events);
    return events;
  }

  get #names() {
    const { threadId, requestId, runId } = this.#options;
    return { threadId, runId: requestId ?? runId };
  }

  #isMine({ requestId }: Pick<Message, 'requestId'>): boolean {
    return requestId !== null && requestId === this.#options.requestId;
  }

  #turn(view: ChatView): Turn | undefined {
    return view.turns.get(this.#options.requestId ?? '');
  }

  #started(): AgUiEvent {
    const version = this.#options.isOne ? { protocolVersion: AG_UI_VERSION } : {};
    return { type: 'RUN_STARTED', ...this.#names, ...version };
  }

  #prelude(view: ChatView): AgUiEvent[] {
    const sent = this.#sent;
    this.#sent = [];
    if (this.#options.joins) return [...this.#snapshot(view), ...this.#startAll(view)];
    const { messages, hasMore } = view;
    const earlier = { ...view, messages: messages.filter((message) => !this.#isAnswer(message)) };
    return [
      ...(isUpToDate(sent, { messages: this.#conversation(earlier), hasMore }) ? [] : this.#snapshot(earlier)),
      ...messages.flatMap((message) => (this.#isAnswer(message) ? (kindOf(message).start(message) ?? []) : [])),
    ];
  }

  /** What of the turn runs, or how it has ended. */
  #resume(view: ChatView, steps: readonly StepSummary[]): AgUiEvent[] {
    const turn = this.#turn(view);
    if (!turn) return this.#options.requestId === null ? this.#endOfNothing() : [];
    if (isEnded(turn.status)) return this.#end(view, turn);
    return steps
      .filter(({ status }) => status === 'running')
      .toSorted((a, b) => a.sequence - b.sequence)
      .flatMap((step) => this.#steps.start(step));
  }

  #isAnswer(message: Message): boolean {
    return this.#isMine(message) && message.role === 'assistant';
  }

  #created(before: ChatView, view: ChatView, message: Message): AgUiEvent[] {
    if (!view.messages.includes(message)) return []; // older than what is held
    if (before.messages.some(({ messageId }) => messageId === message.messageId)) return this.#restate(before, view);
    if (this.#isMine(message)) return kindOf(message).start(message) ?? this.#restate(before, view);
    this.#isStale ||= message.state === 'closed';
    return [];
  }

  #changed(before: ChatView, view: ChatView, change: MessageChange): AgUiEvent[] {
    const isIt = ({ messageId }: Message): boolean => messageId === change.messageId;
    const was = before.messages.findLast(isIt);
    const is = view.messages.findLast(isIt);
    if (!was || !is) return [];
    if (!this.#isMine(is)) {
      this.#isStale ||= is.state === 'closed';
      return [];
    }
    const kind = kindOf(is);
    if (change.type === 'message.closed') return [...this.#rest(was, is, change), ...this.#closed(was, is)];
    if (isActivity(is) && this.#heldBack.holds(was, change)) return [];
    const events = kind === kindOf(was) ? kind.change(this.#heldBack.take(was), is, change) : null;
    return events ?? this.#restate(before, view);
  }

  /** What is not told of it yet. */
  #rest(was: Message, is: Message, change: MessageChange): AgUiEvent[] {
    return isActivity(is) ? (kindOf(is).change(this.#heldBack.take(was), is, change) ?? []) : [];
  }

  #closed(was: Message, is: Message): AgUiEvent[] {
    const kind = kindOf(is);
    return [...(kind.isOpen(was) ? kind.finish(is) : []), ...kind.close(is)];
  }

  #restateIfShown(before: ChatView, view: ChatView, messageIds: readonly string[]): AgUiEvent[] {
    const isShown = before.messages.some((message) => messageIds.includes(message.messageId) && this.#isTold(message));
    return isShown ? this.#restate(before, view) : [];
  }

  /** Whether the client is told of it: of what others are still writing, it is not. */
  #isTold(message: Message): boolean {
    return this.#isMine(message) || message.state === 'closed';
  }

  #restate(before: ChatView, view: ChatView): AgUiEvent[] {
    return [...this.#finishMessages(before), ...this.#snapshot(view), ...this.#startAll(view)];
  }

  #snapshot(view: ChatView): AgUiEvent[] {
    this.#isStale = false;
    this.#heldBack.clear();
    return this.#list.snapshot(this.#conversation(view));
  }

  /** What is begun anew after a snapshot has its place in it, and no content. */
  #conversation(view: ChatView): AgUiMessage[] {
    const told = view.messages.filter((message) => this.#isTold(message));
    return agUiMessages(told, (message) => this.#isOpen(message));
  }

  #isOpen(message: Message): boolean {
    return this.#isMine(message) && kindOf(message).isOpen(message);
  }

  #startAll(view: ChatView): AgUiEvent[] {
    return view.messages.flatMap((message) => {
      const kind = kindOf(message);
      if (this.#isOpen(message)) return kind.start(message) ?? [];
      return this.#isMine(message) ? kind.hints(message) : [];
    });
  }

  #finishMessages(view: ChatView): AgUiEvent[] {
    return view.messages.flatMap((message) => (this.#isOpen(message) ? kindOf(message).finish(message) : []));
  }

  #finishAll(view: ChatView): AgUiEvent[] {
    return [...this.#finishMessages(view), ...this.#steps.finishAll()];
  }

  #end(view: ChatView, turn: Turn): AgUiEvent[] {
    const last = this.#isStale ? this.#snapshot(view) : [];
    const pending = view.messages
      .filter((message) => this.#isMine(message) && message.type === 'tool_call' && resultOf(message).length === 0)
      .map(({ messageId }) => messageId);
    this.#isOver = true;
    const end = endOf(this.#names, turn, { pending, isOne: this.#options.isOne });
    return [...this.#finishAll(view), ...last, end];
  }

  #endOfNothing(): AgUiEvent[] {
    this.#isOver = true;
    return [{ type: 'RUN_FINISHED', ...this.#names, outcome: { type: 'success' } }];
  }
}
