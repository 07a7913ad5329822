import {
  isJsonObject,
  turnInput,
  parse,
  type InputMessage,
  type Json,
  type JsonObject,
  type Message,
} from '../protocol/index.js';
import { AssistantError } from './assistant-error.js';
import type { AssistantFrame, RunningStep } from './frame.js';

/** The metadata key of a delegate step that names the stack it calls. */
export const CHILD_STACK = 'childStackId';

/** What another assistant is given: a text, or messages as a person would send them; those of `ctx.input` will do. */
export type DelegateInput = string | readonly (string | Pick<InputMessage, 'type' | 'props'>)[];

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

/** Recorded under a step of type `delegate`: an answer that was given is not asked for again. @throws {AssistantError} as the called one failed */
export async function delegate(frame: AssistantFrame, request: Required<CallRequest>): Promise<CallAnswer> {
  const { assistantId, show } = request;
  const messages = inputOf(request.messages);
  const { output } = await frame.step({
    type: 'delegate',
    input: { assistantId, messages, ...(show ? {} : { show }) },
    metadata: () => ({ [CHILD_STACK]: frame.needs.newId() }),
    run: (_, step) => ask(frame, { assistantId, messages, show }, step),
  });
  const { response = null, said = [], usage = null } = output as { response?: Json; said?: Message[]; usage?: Json };
  frame.addUsage(usage);
  return { assistantId, output: response, messages: said };
}

async function ask(
  frame: AssistantFrame,
  call: { readonly assistantId: string; readonly messages: InputMessage[]; readonly show: boolean },
  { metadata }: RunningStep,
): Promise<JsonObject> {
  const { assistantId, messages, show } = call;
  const childStackId = metadata[CHILD_STACK] as string;
  const answer = await frame.needs.sink.delegate({ assistantId, input: messages, childStackId, show });
  frame.space.load(answer.space);
  if (answer.status !== 'completed') {
    const { code, message } = answer.error ?? { code: answer.status, message: `it was ${answer.status}` };
    throw new AssistantError(code, `${assistantId}: ${message}`);
  }
  return {
    response: answer.output,
    ...(show ? {} : { said: answer.messages as unknown as Json }),
    ...(answer.usage === null ? {} : { usage: answer.usage }),
  };
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
    run: () => choose(requests.map((request) => delegate(frame, { show: false, ...request }))),
  });
  return output as unknown as CallAnswer;
}

function inputOf(messages: DelegateInput): InputMessage[] {
  const drafts = (typeof messages === 'string' ? [messages] : messages).map((message) =>
    isJsonObject(message) ? { type: message['type'], props: message['props'] } : message,
  );
  return parse(turnInput, drafts, ['messages']);
}
