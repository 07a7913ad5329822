import {
  assistantId as assistantIdSchema,
  CHILD_STACK,
  isJsonObject,
  parse,
  turnInput,
  type InputMessage,
  type Json,
  type JsonObject,
  type Message,
} from '../protocol/index.js';
import { AssistantError, CallFailed } from './assistant-error.js';
import type { AssistantFrame } from './frame.js';
import type { DelegateCall } from './sink.js';

/** What another assistant is given: a text, or messages as a person would send them; those of `ctx.input` will do. */
export type DelegateInput = string | readonly (string | Pick<InputMessage, 'type' | 'props'>)[];

/** One of several assistants that are asked at once. */
export interface CallRequest {
  readonly assistantId: string;
  readonly messages: DelegateInput;
  /** Whether people see what it sends, as after `ctx.delegate`. Default false. */
  readonly show?: boolean;
}

/** What an assistant that was called came to. */
export interface CallAnswer {
  readonly assistantId: string;
  readonly output: Json;
  /** What it sent, where that was not shown. */
  readonly messages: readonly Message[];
}

/**
 * Recorded under a step of type `delegate`: an answer that was given is not asked for again.
 *
 * @param asked is told the stack that is called
 * @throws {AssistantError} as the called one failed
 */
export async function delegate(
  frame: AssistantFrame,
  request: Required<CallRequest>,
  asked: (stackId: string) => void = () => undefined,
): Promise<CallAnswer> {
  const { show } = request;
  const assistantId = parse(assistantIdSchema, request.assistantId, ['assistantId']);
  const messages = inputOf(request.messages);
  const { output } = await frame.step({
    type: 'delegate',
    input: { assistantId, messages, ...(show ? {} : { show }) },
    metadata: () => ({ [CHILD_STACK]: frame.needs.newId(), assistantId }),
    run: (_, { metadata }) => {
      const childStackId = metadata[CHILD_STACK] as string;
      asked(childStackId);
      return ask(frame, { assistantId, input: messages, childStackId, show });
    },
  });
  const { response = null, said = [] } = output as { response?: Json; said?: Message[] };
  return { assistantId, output: response, messages: said };
}

async function ask(frame: AssistantFrame, call: DelegateCall): Promise<JsonObject> {
  const { assistantId, show } = call;
  const answer = await frame.needs.sink.delegate(call);
  frame.space.load(answer.space);
  frame.addUsage(answer.usage);
  if (answer.status !== 'completed') {
    const { code, message } = answer.error ?? { code: answer.status, message: `it was ${answer.status}` };
    const prefix = `${assistantId}: `;
    // One that calls itself says its name once.
    throw new CallFailed(code, message.startsWith(prefix) ? message : prefix + message);
  }
  return { response: answer.output, ...(show ? {} : { said: answer.messages as unknown as Json }) };
}

/** The first that answers. Recorded as one step: the others' answers do not matter any more. @throws {AssistantError} `all_failed` */
export async function any(frame: AssistantFrame, requests: readonly CallRequest[]): Promise<CallAnswer> {
  return oneOf(frame, 'any', requests, async (calls) => {
    try {
      return await Promise.any(calls);
    } catch (error) {
      const reasons = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
      const sentences = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
      throw new AssistantError('all_failed', sentences.join('; ') || 'Nobody was asked.', error);
    }
  });
}

/** The first that has ended, answered or failed. @throws {AssistantError} as that one failed */
export function race(frame: AssistantFrame, requests: readonly CallRequest[]): Promise<CallAnswer> {
  return oneOf(frame, 'race', requests, (calls) => Promise.race(calls));
}

async function oneOf(
  frame: AssistantFrame,
  kind: 'any' | 'race',
  requests: readonly CallRequest[],
  choose: (calls: Promise<CallAnswer>[]) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  if (requests.length === 0) throw new AssistantError('all_failed', 'Nobody was asked.');
  const { output } = await frame.step({
    type: 'delegate',
    input: { [kind]: requests.map(({ assistantId, messages }) => ({ assistantId, messages: inputOf(messages) })) },
    run: () => firstOf(frame, requests, choose),
  });
  return output as unknown as CallAnswer;
}

/** Once there is an answer the other calls are ended, wherever they run. */
async function firstOf(
  frame: AssistantFrame,
  requests: readonly CallRequest[],
  choose: (calls: Promise<CallAnswer>[]) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  const open = new Set<string>();
  const calls = requests.map((request) => {
    let stackId = '';
    const call = delegate(frame, { show: false, ...request }, (called) => open.add((stackId = called)));
    return call.finally(() => open.delete(stackId));
  });
  try {
    return await choose(calls);
  } finally {
    // They end at once, and so before this step: it has gone on without them.
    await frame.push([...open].map((stackId) => ({ op: 'delegate.end', stackId })));
    await Promise.allSettled(calls);
  }
}

function inputOf(messages: DelegateInput): InputMessage[] {
  const drafts = (typeof messages === 'string' ? [messages] : messages).map((message) =>
    isJsonObject(message) ? { type: message['type'], props: message['props'] } : message,
  );
  return parse(turnInput, drafts, ['messages']);
}
