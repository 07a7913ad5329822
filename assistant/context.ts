import {
  parse,
  stepType as stepTypeSchema,
  type Assignment,
  type Chat,
  type Json,
  type JsonObject,
  type Message,
  type StepType,
  type Turn,
} from '../protocol/index.js';
import { any, delegate, race, type CallAnswer, type CallRequest, type DelegateInput } from './delegate.js';
import { AssistantFrame, type FrameNeeds, type StepMatch, type StepRun } from './frame.js';
import { pipe, type Piped, type PipeSource } from './pipe/pipe.js';
import type { Space } from './space.js';
import type { ChangeOp } from './standing.js';

/** A message as an assistant writes it; a plain string stands for a text. */
export type MessageDraft =
  | string
  | {
      readonly type: string;
      readonly props: JsonObject;
      readonly messageId?: string;
      readonly role?: 'user' | 'assistant';
      readonly blockId?: string | null;
      readonly threadId?: string | null;
      readonly stepId?: string | null;
      readonly metadata?: JsonObject | null;
    };

/** For whom the turn is. */
export interface User {
  /** Who started the turn. */
  readonly userId: string;
  /** The chat's team and tenant. */
  readonly teamId: string | null;
  readonly tenantId: string | null;
}

/**
 * What an assistant sees of its turn, and what it can do in it. Every method resolves when more may come, and rejects
 * when what was asked is refused or the turn has ended.
 *
 * A turn that was cut off or failed can be resumed (TRN-9): the code runs again from its beginning, and what it did within
 * {@link step} (or {@link delegate}, {@link call}) and completed is not done again: the stored output is given at once. So
 * what is done outside of steps should be the same each time, and what costs or changes something belongs in a step.
 */
export interface Context {
  /** `if (ctx.turn.attempt > 1) await ctx.signal('resumed')` */
  readonly turn: Turn;
  /** `const language = ctx.chat.metadata?.['language'] ?? 'en'` */
  readonly chat: Chat;
  /** `const orders = await ordersOf(ctx.user.userId)` */
  readonly user: User;
  /** The messages to answer. `const asked = ctx.input.map(({ props }) => props['content'])` */
  readonly input: readonly Message[];
  /** Metadata of the turn, {} where none was given. `const isBrief = ctx.metadata['brief'] === true` */
  readonly metadata: JsonObject;
  /** What an earlier attempt left, null in the first one. `const before = ctx.resume?.messages ?? []` */
  readonly resume: Assignment['resume'];
  /** Data that the steps of the turn and the assistants that it delegates to share. `ctx.space.set('topic', 'cats')` */
  readonly space: Space;
  /**
   * Fires when the turn was stopped or has ended otherwise; its `reason` is an Error with the cause's name.
   *
   *     const page = await fetch(url, { signal: ctx.abortSignal });
   */
  readonly abortSignal: AbortSignal;

  /** What a model needs of the chat's earlier turns, oldest first (AGT-7). `const all = [...ctx.history(), ...ctx.input]` */
  history(): readonly Message[];

  /**
   * Opens a message; gives its id. It stays open for the other methods until {@link end} or the end of the turn.
   *
   *     const id = await ctx.send('Let me see');
   *     await ctx.send({ type: 'image', props: { url } });
   */
  send(message: MessageDraft): Promise<string>;
  /** Appends to the text at `path` (default `content`). `await ctx.append(id, ' …')` */
  append(messageId: string, text: string, path?: string): Promise<void>;
  /** Replaces the whole content. `await ctx.replace(id, { type: 'text', props: { content: 'Done.' } })` */
  replace(messageId: string, message: MessageDraft): Promise<void>;
  /** Merges deeply at `path`, or into the props themselves. `await ctx.merge(id, { progress: 50 })` */
  merge(messageId: string, value: Json, path?: string): Promise<void>;
  /** Sets the value at `path`. `await ctx.set(id, 'rows.0.done', true)` */
  set(messageId: string, path: string, value: Json): Promise<void>;
  /** Closes a message: it is final. `await ctx.end(id)` */
  end(messageId: string): Promise<void>;
  /** Tells those who are connected now; nothing is stored. `await ctx.signal('searching', { query })` */
  signal(name: string, data?: Json): Promise<void>;

  /**
   * Records a piece of work, so that it is done once: when the turn is resumed, a completed step gives its stored output
   * without running, and an incomplete one runs again, and what it had sent is replaced. Messages that are sent while it
   * runs are its own. Steps may be nested and may run side by side; they are told apart by type, order and input.
   *
   *     const page = await ctx.step('tool', { url }, () => load(url));
   *
   * @param input JSON; what `run` is given, and what must be the same when the turn is resumed
   * @param run gives JSON. What it throws fails the step, and comes out here
   * @param options.match `type`: the input may be another one when the turn is resumed (it holds the chat's history, say);
   *   `run` is given the stored one then
   * @throws {AssistantError} `resume_mismatch`: another step was recorded here. {ChatError} `bad_request`: no JSON
   */
  step<T extends Json | void>(
    type: StepType,
    input: unknown,
    run: (input: Json) => T | Promise<T>,
    options?: { readonly match?: StepMatch },
  ): Promise<T extends void ? null : T>;
  /**
   * Hands over to another assistant, wherever it is hosted: same turn, a call stack below this one, messages shown as the
   * turn's own, the space shared. Gives its output.
   *
   *     return ctx.delegate('visualizer', ctx.input);
   *
   * @throws {AssistantError} with the code and the sentence it failed with; `agent_unavailable`: nobody serves it
   */
  delegate(assistantId: string, messages: DelegateInput): Promise<Json>;
  /**
   * Asks another assistant on the side: what it sends comes back in the answer and is shown to nobody, unless asked.
   *
   *     const { output } = await ctx.call('translator', 'Guten Tag');
   *
   * @throws {AssistantError} as {@link delegate}
   */
  call(assistantId: string, messages: DelegateInput, options?: { readonly show?: boolean }): Promise<CallAnswer>;
  /**
   * Asks several at once; their answers in the order of the requests.
   *
   *     const answers = await ctx.callAll(['de', 'fr'].map((to) => ({ assistantId: to, messages: ctx.input })));
   *
   * @throws {AssistantError} as the first that failed
   */
  callAll(requests: readonly CallRequest[]): Promise<CallAnswer[]>;
  /**
   * Asks several at once; the first answer. The other calls are ended.
   *
   *     const { output } = await ctx.callAny([{ assistantId: 'near', messages }, { assistantId: 'far', messages }]);
   *
   * @throws {AssistantError} `all_failed`
   */
  callAny(requests: readonly CallRequest[]): Promise<CallAnswer>;
  /**
   * Asks several at once; the first that has ended. The other calls are ended.
   *
   *     const { assistantId } = await ctx.callRace([{ assistantId: 'a', messages }, { assistantId: 'b', messages }]);
   *
   * @throws {AssistantError} as that one failed
   */
  callRace(requests: readonly CallRequest[]): Promise<CallAnswer>;

  /**
   * Tells people what a stream of the AI SDK says, while it says it: texts, thoughts, tool calls, files, sources, data. It is
   * recorded as a step of type `llm`, its tool calls as steps of type `tool` within; tokens are counted.
   *
   *     const { text } = await ctx.pipe(() => streamText({ model, prompt, abortSignal: ctx.abortSignal }));
   *
   * @param source a result of `streamText`, or a stream of UI message chunks; as a function it is made only when it is needed:
   *   when the turn is resumed, a stream that had come to its end is not asked for again
   * @throws {ModelError} it failed, or stopped in the middle. {AssistantError} `bad_result`: no such stream; `aborted`
   */
  pipe(source: PipeSource): Promise<Piped>;

  /** Resolves after `ms` milliseconds, or when `until` fires. @throws {Error} when the turn ends before */
  wait(ms: number, until?: AbortSignal): Promise<void>;
  /** Counts tokens for the turn's `usage`: numbers of the same name are added up. `ctx.addUsage({ inputTokens: 12 })` */
  addUsage(usage: Json): void;
}

/** Known to every copy of this package in the process: an assistant may come with one of its own. */
const FRAME = Symbol.for('turnstream.frame');

/** The frame behind a context, for the parts of this room. */
export const frameOf = (ctx: Context): AssistantFrame => (ctx as Context & { readonly [FRAME]: AssistantFrame })[FRAME];

const asMessage = (draft: MessageDraft) =>
  typeof draft === 'string' ? { type: 'text', props: { content: draft } } : draft;

/** Whoever does not wait for what he asked does not hear of its refusal; the process goes on. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** What the code of an assistant is given to run on a frame. */
export function createContext(needs: FrameNeeds): Context {
  const { assignment, abortSignal } = needs;
  const { turn, chat, input, history, resume } = assignment;
  const frame = new AssistantFrame(needs);
  const ask = (request: CallRequest) => delegate(frame, { show: false, ...request });
  const change = (op: ChangeOp): Promise<void> => {
    const followed = frame.standing.change(op);
    return followed ? quiet(followed) : frame.push([op]);
  };
  const step = async (run: StepRun) => frame.step({ ...run, type: parse(stepTypeSchema, run.type, ['type']) });
  const send = async (draft: MessageDraft): Promise<string> => {
    const op = { op: 'send', ...asMessage(draft) } as const;
    const { stepId } = frame.scope;
    const handled = frame.goOn();
    if (handled.length > 0) await frame.push(handled);
    if (stepId === null && op.stepId === undefined) return frame.standing.send({ ...op, stepId });
    const messageId = op.messageId ?? needs.newId();
    await frame.push([{ stepId, ...op, messageId }]);
    return messageId;
  };
  const ctx: Context = {
    turn,
    chat,
    user: { userId: turn.createdBy, teamId: chat.teamId, tenantId: chat.tenantId },
    input,
    metadata: turn.metadata ?? {},
    resume,
    space: frame.space,
    abortSignal,
    history: () => history,
    send: (draft) => quiet(send(draft)),
    append: (messageId, text, path) =>
      change({ op: 'append', messageId, text, ...(path === undefined ? {} : { path }) }),
    replace: (messageId, draft) => {
      const { type, props } = asMessage(draft);
      return change({ op: 'replace', messageId, type, props: { ...props } });
    },
    merge: (messageId, value, path) =>
      change({ op: 'merge', messageId, value, ...(path === undefined ? {} : { path }) }),
    set: (messageId, path, value) => change({ op: 'set', messageId, path, value }),
    end: (messageId) => change({ op: 'end', messageId }),
    signal: (name, data = null) => frame.push([{ op: 'signal', name, data }]),
    step: (type, given, run, { match = 'input' } = {}) =>
      quiet(step({ type, input: given, run, match }).then(({ output }) => output as never)),
    delegate: (assistantId, messages) => quiet(ask({ assistantId, messages, show: true }).then(({ output }) => output)),
    call: (assistantId, messages, options) => quiet(ask({ assistantId, messages, ...options })),
    callAll: (requests) => quiet(Promise.all(requests.map(ask))),
    callAny: (requests) => quiet(any(frame, requests)),
    callRace: (requests) => quiet(race(frame, requests)),
    pipe: (source) => quiet(pipe(ctx, frame, source)),
    wait: (ms, until) => quiet(frame.wait(ms, until)),
    addUsage: (usage) => frame.addUsage(usage),
  };
  return Object.assign(ctx, { [FRAME]: frame });
}
