import type { Json, JsonObject } from '../../protocol/index.js';

/** Something that a stream of the AI SDK says, whichever of its two forms it has. */
export type Said =
  | { readonly kind: 'text'; readonly type: TextType; readonly id: string; readonly delta: string }
  | { readonly kind: 'text-end'; readonly type: TextType; readonly id: string }
  | { readonly kind: 'call'; readonly said: CallSaid }
  /** A message that comes whole. `id`: the same one again changes it. */
  | { readonly kind: 'message'; readonly type: string; readonly props: JsonObject; readonly id: string | null }
  | { readonly kind: 'signal'; readonly name: string; readonly data: Json }
  | { readonly kind: 'usage'; readonly usage: Json }
  | { readonly kind: 'finish'; readonly reason: string | null }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'aborted' };

export type TextType = 'text' | 'thinking';

/** Something about one tool call. */
export type CallSaid =
  | { readonly what: 'begins'; readonly call: CallName }
  | { readonly what: 'writes'; readonly toolCallId: string; readonly delta: string }
  | { readonly what: 'input'; readonly call: CallName; readonly input: unknown }
  | { readonly what: 'output'; readonly toolCallId: string; readonly output: unknown; readonly preliminary: boolean }
  | { readonly what: 'error'; readonly toolCallId: string; readonly error: string };

export interface CallName {
  readonly toolCallId: string;
  readonly tool: string;
  readonly dynamic?: true;
  readonly providerExecuted?: true;
}

/** A part or a chunk as it comes: what stands in it depends on its type. */
export type Part = Readonly<Record<string, unknown>> & { readonly type: string };

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const callOf = (part: Part): CallName => ({
  toolCallId: textOf(part['toolCallId'] ?? part['id']),
  tool: textOf(part['toolName']),
  ...(part['dynamic'] === true ? { dynamic: true } : {}),
  ...(part['providerExecuted'] === true ? { providerExecuted: true } : {}),
});

/** A file as a message: images are shown, others are linked. */
export function fileSaid(url: string, mediaType: string): Said {
  const type = /^(image|audio|video)\//.exec(mediaType)?.[1] ?? 'file';
  const name = type === 'file' ? { filename: 'file' } : {};
  return { kind: 'message', type, props: { url, mediaType, ...name }, id: null };
}

/** A source as a message; what is neither a link nor a document is none. */
export function sourceSaid(part: Part): Said[] {
  const kept = ['url', 'title', 'mediaType', 'filename'].flatMap((key) =>
    typeof part[key] === 'string' ? [[key, part[key]] as const] : [],
  );
  const sourceId = textOf(part['sourceId'] ?? part['id']);
  return [{ kind: 'message', type: 'source', props: { sourceId, ...Object.fromEntries(kept) }, id: null }];
}

/** Words for what a tool threw. */
export function errorWords(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : 'failed';
}

const text = (type: TextType, id: string, delta: string): Said => ({ kind: 'text', type, id, delta });
const textEnd = (type: TextType, id: string): Said => ({ kind: 'text-end', type, id });
const call = (said: CallSaid): Said => ({ kind: 'call', said });

/** Short words for what is said most. */
export const say = { text, textEnd, call };
