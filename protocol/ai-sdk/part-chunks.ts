import { canonicalJson, type Json } from '../json.js';
import type { PartOrigin, UiChunk } from './chunk.js';
import type { ToolPart, UiPart } from './ui-part.js';

/** What a client holds of one message. */
export interface Held {
  part: UiPart;
  /** Whether more text may follow under its id. */
  open: boolean;
}

/** What a part needs beside itself to become chunks. */
export interface PartContext {
  readonly messageId: string;
  readonly origin: PartOrigin;
  /** Whether the message is still open. */
  readonly open: boolean;
  /** Whether the client would look for it in its current step. */
  readonly isCurrent: boolean;
}

/** The chunks that make a client hold this part, which it holds nothing of. */
export function opening(part: UiPart, { messageId: id, origin, open }: PartContext): UiChunk[] {
  const providerMetadata = origin;
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return [
        { type: `${part.kind}-start`, id, providerMetadata },
        ...delta(part.kind, id, part.text),
        ...(open ? [] : [{ type: `${part.kind}-end` as const, id }]),
      ];
    case 'tool':
      return [...toolInput(part, origin), ...toolOutcome(part)];
    case 'file':
      return [{ type: 'file', url: part.url, mediaType: part.mediaType, providerMetadata }];
    case 'source': {
      const { sourceId, url, title } = part;
      return [{ type: 'source-url', sourceId, url, ...(title === null ? {} : { title }), providerMetadata }];
    }
    case 'document': {
      const { sourceId, mediaType, title, filename } = part;
      const named = filename === null ? {} : { filename };
      return [{ type: 'source-document', sourceId, mediaType, title, ...named, providerMetadata }];
    }
    case 'data':
      return [dataChunk(id, part)];
  }
}

export const dataChunk = (id: string, part: Extract<UiPart, { kind: 'data' }>): UiChunk => ({
  type: `data-${part.name}`,
  id,
  data: part.data,
  ...(part.transient ? { transient: true } : {}),
});

/**
 * The chunks that make of what a client holds this part; null where there are none: text cannot be taken back, nor can a
 * file, and a tool call is only found in the current step.
 */
export function changing(held: Held, part: UiPart, context: PartContext): UiChunk[] | null {
  const before = held.part;
  if (part.kind === 'text' || part.kind === 'reasoning')
    return before.kind === part.kind ? growing(held, before.text, part, context) : null;
  if (part.kind === 'tool') return before.kind === 'tool' ? calling(before, part, context) : null;
  if (part.kind === 'data' && before.kind === 'data' && part.name === before.name)
    return isSame(before.data, part.data) ? [] : [dataChunk(context.messageId, part)];
  return isSame(before, part) ? [] : null;
}

function growing(
  { open }: Held,
  before: string,
  { kind, text }: Extract<UiPart, { kind: 'text' | 'reasoning' }>,
  context: PartContext,
): UiChunk[] | null {
  const id = context.messageId;
  const isLonger = text.length > before.length;
  if (!text.startsWith(before) || (isLonger && !open)) return null;
  const ends = open && !context.open;
  return [...delta(kind, id, text.slice(before.length)), ...(ends ? [{ type: `${kind}-end` as const, id }] : [])];
}

const delta = (kind: 'text' | 'reasoning', id: string, text: string): UiChunk[] =>
  text === '' ? [] : [{ type: `${kind}-delta`, id, delta: text }];

/** Whether it is the same call of the same tool. */
const isSameCall = (a: ToolPart, b: ToolPart): boolean =>
  a.toolCallId === b.toolCallId &&
  a.toolName === b.toolName &&
  a.dynamic === b.dynamic &&
  a.providerExecuted === b.providerExecuted;

function calling(before: ToolPart, part: ToolPart, { origin, isCurrent }: PartContext): UiChunk[] | null {
  if (!isSameCall(before, part)) return null;
  const isSameOutcome = isSame(before.outcome, part.outcome);
  const isBack = before.outcome !== null && part.outcome === null;
  const outcome = isSameOutcome ? [] : toolOutcome(part);
  if (isSame(before.input, part.input) && !isBack) {
    // What a model had written of an input is told again together with the error.
    return outcome.length > 0 && 'text' in part.input && !isCurrent ? null : outcome;
  }
  if (!isCurrent) return null;
  if ('value' in part.input) return [inputAvailable(part, part.input.value, origin), ...toolOutcome(part)];
  const more = writtenOn(before, part.input.text);
  return more === null ? null : [...inputDelta(part, more), ...outcome];
}

/** What was written of an input since; null where it is no more of the same. */
function writtenOn({ input, outcome }: ToolPart, text: string): string | null {
  if (outcome !== null || !('text' in input) || !text.startsWith(input.text)) return null;
  return text.slice(input.text.length);
}

/** What a page calls the tool by. */
const named = ({ toolCallId, toolName, dynamic, providerExecuted }: ToolPart) => ({
  toolCallId,
  toolName,
  ...(dynamic ? { dynamic: true as const } : {}),
  ...(providerExecuted ? { providerExecuted: true as const } : {}),
});

function toolInput(part: ToolPart, origin: PartOrigin): UiChunk[] {
  const { input } = part;
  if ('value' in input) return [inputAvailable(part, input.value, origin)];
  return [{ type: 'tool-input-start', ...named(part) }, ...inputDelta(part, input.text)];
}

const inputAvailable = (part: ToolPart, input: Json, origin: PartOrigin): UiChunk => ({
  type: 'tool-input-available',
  ...named(part),
  input,
  providerMetadata: origin,
});

const inputDelta = ({ toolCallId }: ToolPart, inputTextDelta: string): UiChunk[] =>
  inputTextDelta === '' ? [] : [{ type: 'tool-input-delta', toolCallId, inputTextDelta }];

function toolOutcome(part: ToolPart): UiChunk[] {
  const { outcome, input } = part;
  if (outcome === null) return [];
  const { toolName, ...call } = named(part);
  if ('errorText' in outcome) {
    const { errorText } = outcome;
    if ('text' in input) return [{ type: 'tool-input-error', ...call, toolName, input: input.text, errorText }];
    return [{ type: 'tool-output-error', ...call, errorText }];
  }
  const { output, preliminary } = outcome;
  return [{ type: 'tool-output-available', ...call, output, ...(preliminary ? { preliminary: true } : {}) }];
}

const isSame = (a: object | null, b: object | null): boolean =>
  a === b || (a !== null && b !== null && canonicalJson(a as Json) === canonicalJson(b as Json));
