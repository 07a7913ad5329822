import {
  HttpAgent,
  runHttpRequest,
  transformHttpEventStream,
  type Message as ClientMessage,
  type RunAgentInput,
} from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { expect, vi } from 'vitest';
import { AgUiRun, agUiMessages, type AgUiEvent } from '../../../protocol/ag-ui/index.js';
import { runAgentInput } from '../../../protocol/ag-ui/run-input.js';
import {
  foldChat,
  type ChatEvent,
  type ChatView,
  type EventBody,
  type JsonObject,
  type Message,
  type Step,
  type StepSummary,
  type SubscribeResult,
  type Turn,
} from '../../../protocol/index.js';
import { AT, CHAT, chatRow, messageRow, turnRow } from '../client/rows.js';

export const RUN = 'run-1';
const EPOCH = 'life-1';

/** A chat whose events a test makes one by one, with how it stands before and after each. */
export class ScriptedChat {
  readonly views: ChatView[];
  readonly events: ChatEvent[] = [];
  #sequence: number;
  #steps = 0;

  constructor(messages: readonly Message[] = [asked()], turn: Turn = turnRow(RUN)) {
    this.#sequence = messages.length;
    const turns = new Map([[turn.requestId, turn]]);
    const position = { epoch: EPOCH, offset: 0 };
    this.views = [{ chat: chatRow(), position, messages, hasMore: false, turns, steps: new Map(), deleted: false }];
  }

  get view(): ChatView {
    return this.views.at(-1) as ChatView;
  }

  emit(body: EventBody): void {
    const offset = this.view.position.offset + 1;
    const event = { ...body, chatId: CHAT, epoch: EPOCH, offset, at: AT };
    this.events.push(event);
    this.views.push(foldChat(this.view, event));
  }

  /** @returns its id */
  send(type: string, props: JsonObject, more: Partial<Message> = {}): string {
    const sequence = ++this.#sequence;
    const message = messageRow(sequence, { requestId: RUN, type, props, state: 'open', ...more });
    this.emit({ type: 'message.created', requestId: message.requestId ?? RUN, message });
    return message.messageId;
  }

  append(messageId: string, text: string, path = 'content'): void {
    const props = this.view.messages.find((message) => message.messageId === messageId)!.props;
    const held = path.split('.').reduce<unknown>((at, key) => (at as JsonObject | undefined)?.[key], props) ?? '';
    this.emit({ type: 'message.appended', messageId, path, from: (held as string).length, text });
  }

  close(messageId: string): void {
    this.emit({ type: 'message.closed', messageId });
  }

  startStep(more: Partial<Step> = {}): string {
    const sequence = ++this.#steps;
    const step = stepRow(sequence, more);
    this.emit({ type: 'step.started', step });
    return step.stepId;
  }

  endStep(stepId: string): void {
    this.emit({ type: 'step.ended', step: { ...this.view.steps.get(stepId)!, status: 'completed' } });
  }

  /** As the one finaliser does it: what is open is closed first. */
  end(change: Partial<Turn> = { status: 'completed' }): void {
    for (const { messageId, state, requestId } of this.view.messages)
      if (state === 'open' && requestId === RUN) this.close(messageId);
    for (const { stepId, status } of this.view.steps.values()) if (status === 'running') this.endStep(stepId);
    const turn = { ...this.view.turns.get(RUN)!, ...change, endedAt: AT };
    this.emit({ type: 'turn.ended', turn, persisted: true });
  }

  /** What a subscription answers after so many events. */
  snapshot(after: number): SubscribeResult {
    const { chat, position, messages, hasMore, turns } = this.views[after]!;
    const page = { messages: [...messages], hasMore, turns: [...turns.values()] };
    return { chat, position, mode: 'snapshot', ...page, presence: [] };
  }

  steps(after: number): StepSummary[] {
    return [...this.views[after]!.steps.values()];
  }
}

const stepRow = (sequence: number, more: Partial<Step>): StepSummary => ({
  stepId: `step-${sequence}`,
  chatId: CHAT,
  requestId: RUN,
  assistantId: 'echo',
  stackId: 'stack-1',
  stackParentId: null,
  stackDepth: 0,
  type: 'llm',
  status: 'running',
  error: null,
  sequence,
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
});

/** What was asked, as a client of AG-UI sent it. */
export const asked = (id = 'asked-1'): Message =>
  messageRow(1, { requestId: RUN, role: 'user', assistantId: null, metadata: { agUi: { id } } });

/** The stock client over a response that a test gives; all that it does with it is its own. */
export class ListeningAgent extends HttpAgent {
  readonly seen: AgUiEvent[] = [];
  #next: readonly AgUiEvent[] = [];

  constructor(initialMessages: ClientMessage[]) {
    super({ url: 'http://127.0.0.1/', threadId: CHAT, initialMessages, fetch: async () => this.#response() });
  }

  protected override connect(input: RunAgentInput): ReturnType<HttpAgent['run']> {
    return transformHttpEventStream(runHttpRequest(() => this.fetch(this.url, this.requestInit(input))));
  }

  #response(): Response {
    const frames = this.#next.map((event) => `data: ${JSON.stringify(event)}\n\n`);
    return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } });
  }

  /** Hears a run that it asked for, or one that it joins. */
  async hear(events: readonly AgUiEvent[], how: 'asks' | 'joins'): Promise<void> {
    this.#next = events;
    this.seen.push(...events);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await (how === 'asks' ? this.runAgent({ runId: RUN }) : this.connectAgent());
    expect(warn.mock.calls, 'the stock client has nothing to complain of').toEqual([]);
    warn.mockRestore();
  }

  /** The body that it would send now. */
  body(): unknown {
    return JSON.parse(JSON.stringify(this.prepareRunAgentInput({ runId: RUN })));
  }
}

/** The events of a run that is told from the snapshot after `cut` events, up to the event `until`. */
export function told(
  chat: ScriptedChat,
  how: 'asks' | 'joins',
  { cut = 0, until = chat.events.length, isOne = true, body = bodyOf([question]) }: ToldOptions = {},
): AgUiEvent[] {
  const { messages: sent, state } = runAgentInput.parse(body);
  const run = new AgUiRun({ threadId: CHAT, requestId: RUN, runId: RUN, isOne, sent, state, joins: how === 'joins' });
  const events = run.begin(chat.snapshot(cut), chat.steps(cut));
  for (const event of chat.events.slice(cut, until)) events.push(...run.event(event));
  for (const event of events) expect(EventSchemas.safeParse(event).error, JSON.stringify(event)).toBeUndefined();
  return events;
}

interface ToldOptions {
  readonly cut?: number;
  readonly until?: number;
  readonly isOne?: boolean;
  /** The RunAgentInput that asked. */
  readonly body?: unknown;
}

const bodyOf = (messages: readonly ClientMessage[]): unknown => ({ threadId: CHAT, runId: RUN, messages });

/** The state that a client holds when all is over: {} where there was none. */
export const trueState = (chat: ScriptedChat): unknown =>
  chat.view.messages.findLast(({ type, role }) => type === 'state' && role === 'assistant')?.props ?? {};

/** What a client holds when all is over, if it lost nothing. */
export const truth = (chat: ScriptedChat): ClientMessage[] => agUiMessages(chat.view.messages) as ClientMessage[];

export const clientWith = (...messages: ClientMessage[]): ListeningAgent => new ListeningAgent(messages);

export const question: ClientMessage = { id: 'asked-1', role: 'user', content: 'text 1' };
