import type { Json, JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { AgUiMessage, AgUiToolCall } from './message.js';

type ToolMessage = Extract<AgUiMessage, { role: 'tool' }>;

/** What AG-UI shows of one message's props. */

/** Whether a message is no part of the conversation, but the state that an assistant shares with a frontend. */
export const isState = ({ type, role }: Pick<Message, 'type' | 'role'>): boolean =>
  type === 'state' && role === 'assistant';

/** Whether a message's content is its `content`, in words. */
export const isWords = (type: string): boolean => type === 'text' || type === 'user_input';

/** The text of a message of words. */
export function textOf({ props }: Pick<Message, 'props'>): string {
  const content = Object.hasOwn(props, 'content') ? props['content'] : '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/**
 * A `tool_call` message as a call. Its id is the message's: providers number their calls anew in each round, and AG-UI
 * wants an id to mean one call for ever. Theirs stands in its metadata.
 */
export function callOf({ messageId, props }: Pick<Message, 'messageId' | 'props'>): AgUiToolCall {
  const { tool, input, toolCallId } = props;
  return {
    id: messageId,
    type: 'function',
    function: { name: typeof tool === 'string' ? tool : 'tool', arguments: argumentsText(input) },
    ...(toolCallId === undefined ? {} : { metadata: { toolCallId } }),
  };
}

/** An input that is a text is taken for JSON that is being written. */
function argumentsText(input: Json | undefined): string {
  if (input === undefined) return '';
  return typeof input === 'string' ? input : JSON.stringify(input);
}

export function hasAllArguments({ props, state }: Pick<Message, 'props' | 'state'>): boolean {
  const { input } = props;
  const isWhole = input !== undefined && typeof input !== 'string';
  return state === 'closed' || isWhole || cameOf(props) !== null;
}

/** Whether a call's `state` says that what it holds is its result. */
export const isResult = (state: Json | undefined): boolean => state === 'completed' || state === 'failed';

/** What came of a call, once its message is final; nothing where nothing came of it. */
export function resultOf(message: Pick<Message, 'messageId' | 'props' | 'state'>): ToolMessage[] {
  const came = message.state === 'closed' ? cameOf(message.props) : null;
  if (!came) return [];
  const { value, isError } = came;
  return [
    {
      id: resultId(message.messageId),
      role: 'tool',
      toolCallId: message.messageId,
      content: typeof value === 'string' ? value : JSON.stringify(value),
      ...(isError ? { metadata: { error: true } } : {}),
    },
  ];
}

function cameOf({ output, error }: JsonObject): { readonly value: Json; readonly isError: boolean } | null {
  if (error !== undefined && error !== null) return { value: error, isError: true };
  return output === undefined ? null : { value: output, isError: false };
}

/** A result is a message of its own in AG-UI. No id of ours has a colon. */
const resultId = (messageId: string): string => `${messageId}:result`;

/** The text at a path of props that came from elsewhere; undefined where there is none. */
export function textProp(props: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(props, name) ? props[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
