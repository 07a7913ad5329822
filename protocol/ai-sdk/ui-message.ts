import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { Turn } from '../turn.js';
import type { UiMajor } from './chunk.js';
import { layoutOf } from './layout.js';
import { answerIdOf, answerMetadata } from './ui-metadata.js';
import { originOf, partOf, type ToolPart, type UiPart } from './ui-part.js';

/** A UI message as `useChat` holds it, and takes it for its `messages`. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: Json;
  readonly parts: readonly JsonObject[];
}

/** The metadata key of an input message that keeps what the UI message was that it came in. */
export const UI = 'ui';

/** The UI messages of a chat: per turn what was asked, as one message, and what was answered, as one; others by themselves. */
export function uiMessagesOf(
  messages: readonly Message[],
  turns: ReadonlyMap<string, Turn>,
  major: UiMajor,
): UiMessage[] {
  return byTurn(messages).flatMap((group) => {
    const [first] = group;
    if (!first || first.requestId === null) return group.map((message) => lone(message, major));
    const asked = group.filter(({ role }) => role === 'user');
    const answered = group.filter(({ role }) => role === 'assistant');
    const turn = turns.get(first.requestId);
    return [
      ...(asked.length > 0 ? [question(asked)] : []),
      ...(answered.length > 0 ? [answer(first.requestId, answered, turn, major)] : []),
    ];
  });
}

/** Whole turns in the order of their first messages: an answer stands by its question, whatever was asked meanwhile. */
function byTurn(messages: readonly Message[]): Message[][] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const key = message.requestId ?? `/${message.messageId}`;
    const group = groups.get(key);
    if (group) group.push(message);
    else groups.set(key, [message]);
  }
  return [...groups.values()];
}

function lone(message: Message, major: UiMajor): UiMessage {
  if (message.role === 'user') return { ...question([message]), id: uiIdOf(message) ?? message.messageId };
  return { id: message.messageId, role: 'assistant', parts: partsOf([message], null, major) };
}

function answer(requestId: string, messages: readonly Message[], turn: Turn | undefined, major: UiMajor): UiMessage {
  return {
    id: answerIdOf(requestId),
    role: 'assistant',
    ...(turn ? { metadata: answerMetadata(turn) } : {}),
    parts: partsOf(messages, turn?.assistantId ?? null, major),
  };
}

/** The id that the person's program gave the UI message, where one did. */
export function uiIdOf({ metadata }: Pick<Message, 'metadata'>): string | null {
  const kept = metadata?.[UI];
  return isJsonObject(kept) && typeof kept['id'] === 'string' ? kept['id'] : null;
}

function question(messages: readonly Message[]): UiMessage {
  const [first] = messages as [Message];
  const kept = first.metadata?.[UI];
  const metadata = isJsonObject(kept) ? kept['metadata'] : undefined;
  return {
    id: uiIdOf(first) ?? first.requestId ?? first.messageId,
    role: 'user',
    ...(metadata === undefined ? {} : { metadata }),
    parts: messages.map(askedPart),
  };
}

function askedPart(message: Message): JsonObject {
  const part = partOf(message);
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'file': {
      const { filename } = part.more;
      return {
        type: 'file',
        mediaType: part.mediaType,
        url: part.url,
        ...(filename === undefined ? {} : { filename }),
      };
    }
    default:
      return { type: `data-${message.type}`, data: message.props };
  }
}

function partsOf(messages: readonly Message[], assistantId: string | null, major: UiMajor): JsonObject[] {
  return layoutOf(messages).map((entry) =>
    entry.kind === 'step' ? { type: 'step-start' } : answerPart(entry.part, entry.message, assistantId, major),
  );
}

/** What the AI SDK's own reader makes of the part's chunks. */
function answerPart(part: UiPart, message: Message, assistantId: string | null, major: UiMajor): JsonObject {
  const origin = { providerMetadata: originOf(message, assistantId, part.kind === 'file' ? part.more : {}) };
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return {
        type: part.kind,
        ...(part.kind === 'reasoning' ? { id: message.messageId } : {}),
        text: part.text,
        state: message.state === 'open' ? 'streaming' : 'done',
        ...origin,
      };
    case 'tool':
      return toolPart(part, origin.providerMetadata, major);
    case 'file':
      return { type: 'file', mediaType: part.mediaType, url: part.url, ...(major > 5 ? origin : {}) };
    case 'source':
      return {
        type: 'source-url',
        sourceId: part.sourceId,
        url: part.url,
        ...(part.title === null ? {} : { title: part.title }),
        ...origin,
      };
    case 'document': {
      const { sourceId, mediaType, title, filename } = part;
      const named = filename === null ? {} : { filename };
      return { type: 'source-document', sourceId, mediaType, title, ...named, ...origin };
    }
    case 'data':
      return { type: `data-${part.name}`, id: message.messageId, data: part.data };
  }
}

function toolPart(part: ToolPart, origin: JsonObject, major: UiMajor): JsonObject {
  const { toolCallId, toolName, dynamic, outcome, input } = part;
  const named = {
    ...(dynamic ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` }),
    toolCallId,
    ...(part.providerExecuted ? { providerExecuted: true } : {}),
  };
  if ('text' in input) {
    if (outcome === null) return { ...named, state: 'input-streaming', rawInput: input.text };
    // Where older majors put an input that never was one.
    const written = dynamic || major > 6 ? { input: input.text } : { rawInput: input.text };
    return { ...named, state: 'output-error', ...written, ...('errorText' in outcome ? outcome : {}) };
  }
  const available = { ...named, input: input.value, callProviderMetadata: origin };
  if (outcome === null) return { ...available, state: 'input-available' };
  if ('errorText' in outcome) return { ...available, state: 'output-error', errorText: outcome.errorText };
  const { output, preliminary } = outcome;
  return { ...available, state: 'output-available', output, ...(preliminary ? { preliminary: true } : {}) };
}
