import { definedOf } from '../defined.js';
import type { Json, JsonObject } from '../json.js';
import type { MessageChange } from '../event.js';
import type { Message } from '../message.js';
import { DEFAULT_PATH } from '../path.js';
import type { AgUiEvent } from './event.js';
import { patchOf } from './json-patch.js';
import type { AgUiMessage } from './message.js';
import { callOf, hasAllArguments, isResult, isWords, resultOf, textOf } from './shown.js';

/** How messages of one sort are told while they come into being. */
export interface Kind {
  /** Whether something of it is open between a START and an END that has not come. */
  isOpen(message: Message): boolean;
  /** Begins it, with what it holds so far; what needs no more is ended at once. Null: only a snapshot can tell it. */
  start(message: Message): AgUiEvent[] | null;
  /** What a change comes to; null: only a snapshot can tell it. */
  change(before: Message, after: Message, change: MessageChange): AgUiEvent[] | null;
  /** Ends what is open. */
  finish(message: Message): AgUiEvent[];
  /** It is final: what there is to say beside that. */
  close(message: Message): AgUiEvent[];
  /** What is told of it and leaves no trace in a snapshot. */
  hints(message: Message): AgUiEvent[];
}

export function kindOf({ type, role }: Pick<Message, 'type' | 'role'>): Kind {
  if (isWords(type)) return text;
  if (role === 'user') return said;
  if (type === 'state') return state;
  if (type === 'thinking') return reasoning;
  return type === 'tool_call' ? toolCall : activity;
}

/** Whether it is shown as it is: its type, and its props. */
export const isActivity = (message: Pick<Message, 'type' | 'role'>): boolean => kindOf(message) === activity;

const text: Kind = {
  isOpen: ({ state }) => state === 'open',
  start(message) {
    const { messageId, role, assistantId } = message;
    const name = role === 'assistant' && assistantId !== null ? { name: assistantId } : {};
    return [
      { type: 'TEXT_MESSAGE_START', messageId, role, ...name },
      ...textContent(messageId, textOf(message)),
      ...(message.state === 'open' ? [] : text.finish(message)),
    ];
  },
  change(before, after, change) {
    const delta = growth(before, after, change);
    return delta === null ? null : textContent(after.messageId, delta);
  },
  finish: ({ messageId }) => [{ type: 'TEXT_MESSAGE_END', messageId }],
  close: () => [],
  hints: () => [],
};

const reasoning: Kind = {
  isOpen: ({ state }) => state === 'open',
  start(message) {
    const { messageId } = message;
    return [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      ...reasoningContent(messageId, textOf(message)),
      ...(message.state === 'open' ? [] : reasoning.finish(message)),
    ];
  },
  change(before, after, change) {
    const delta = growth(before, after, change);
    return delta === null ? null : reasoningContent(after.messageId, delta);
  },
  finish: ({ messageId }) => [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ],
  close: () => [],
  hints: () => [],
};

/** A call is open until its arguments are whole; its result comes when the message is final. */
const toolCall: Kind = {
  isOpen: (message) => !hasAllArguments(message),
  start(message) {
    const { id, function: called, metadata } = callOf(message);
    return [
      {
        type: 'TOOL_CALL_START',
        toolCallId: id,
        toolCallName: called.name,
        parentMessageId: message.messageId,
        ...definedOf({ metadata }),
      },
      ...argumentsDelta(id, called.arguments),
      ...(hasAllArguments(message) ? toolCall.finish(message) : []),
      ...toolCall.hints(message),
      ...toolCall.close(message),
    ];
  },
  change(before, after) {
    const was = callOf(before);
    const is = callOf(after);
    if (was.function.name !== is.function.name || !is.function.arguments.startsWith(was.function.arguments))
      return null;
    const delta = is.function.arguments.slice(was.function.arguments.length);
    // Ended, and not whole any more: what made it whole has been taken back.
    if (hasAllArguments(before) && (delta !== '' || !hasAllArguments(after))) return null;
    return [
      ...argumentsDelta(is.id, delta),
      ...(hasAllArguments(after) && !hasAllArguments(before) ? toolCall.finish(after) : []),
      ...(JSON.stringify(progress(before)) === JSON.stringify(progress(after)) ? [] : progress(after)),
    ];
  },
  finish: (message) => [{ type: 'TOOL_CALL_END', toolCallId: callOf(message).id }],
  close: (message) => resultOf(message).map((result) => resultEvent(result)),
  hints: progress,
};

/** What people say beside words is a part of their message, which no event but a snapshot brings. */
const said: Kind = {
  isOpen: () => false,
  start: () => null,
  change: () => null,
  finish: () => [],
  close: () => [],
  hints: () => [],
};

/** Told as the state that it is, and not as a message. */
const state: Kind = { ...said, start: () => [], change: () => [] };

/** Of whatever else people see: its props are the content of an activity. */
const activity: Kind = {
  isOpen: () => false,
  start: ({ messageId, type, props }) => [{ type: 'ACTIVITY_SNAPSHOT', messageId, activityType: type, content: props }],
  change(before, after) {
    const patch = patchOf(before.props, after.props);
    if (patch.length === 0) return [];
    return [{ type: 'ACTIVITY_DELTA', messageId: after.messageId, activityType: after.type, patch }];
  },
  finish: () => [],
  close: () => [],
  hints: () => [],
};

/** What was added to the text at its end; null where it was changed otherwise. */
function growth(before: Message, after: Message, change: MessageChange): string | null {
  if (change.type === 'message.appended' && change.path === DEFAULT_PATH) return change.text;
  const was = textOf(before);
  const is = textOf(after);
  return is.startsWith(was) ? is.slice(was.length) : null;
}

const textContent = (messageId: string, delta: string): AgUiEvent[] =>
  delta === '' ? [] : [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }];

const reasoningContent = (messageId: string, delta: string): AgUiEvent[] =>
  delta === '' ? [] : [{ type: 'REASONING_MESSAGE_CONTENT', messageId, delta }];

const argumentsDelta = (toolCallId: string, delta: string): AgUiEvent[] =>
  delta === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId, delta }];

/** What a call that runs tells of itself. It leaves no trace among the messages: the result is what stays. */
function progress(message: Message): AgUiEvent[] {
  // An input that is being written is told once it is whole: with each word it would come as a whole.
  const { toolCallId: _id, tool: _tool, input: _input, inputText: _text, state, ...told } = message.props;
  if (message.state === 'closed' || isResult(state) || Object.keys(told).length === 0) return [];
  const value: JsonObject = { toolCallId: message.messageId, ...told, ...definedOf({ state }) };
  return [{ type: 'CUSTOM', name: TOOL_PROGRESS, value: value as Json }];
}

/** The name of the CUSTOM event of a call that runs. */
const TOOL_PROGRESS = 'tool_call.progress';

function resultEvent(result: Extract<AgUiMessage, { role: 'tool' }>): AgUiEvent {
  const { id, role, toolCallId, content, metadata } = result;
  return { type: 'TOOL_CALL_RESULT', messageId: id, toolCallId, role, content, ...definedOf({ metadata }) };
}
