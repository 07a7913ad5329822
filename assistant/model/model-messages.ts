import type { AssistantModelMessage, FilePart, ModelMessage, TextPart, ToolResultPart } from 'ai';
import { isJsonObject, type Json, type JsonObject, type Message } from '../../protocol/index.js';
import { beginning, filePart, named } from './file-parts.js';

/** What of a message a model is told. */
export type Told = Pick<Message, 'type' | 'props'> & { readonly role?: Message['role'] | undefined };

/** What a tool call came to. */
export interface ToolOutcome {
  readonly toolCallId: string;
  readonly tool: string;
  readonly output?: Json | undefined;
  /** In words for the model; null or absent where it succeeded. */
  readonly error?: string | null | undefined;
}

/**
 * Messages of a chat as a model is told them, in order: what people and assistants said and showed, and the tools that
 * were called. Whatever the props hold, it does not throw: what cannot be told is left out.
 *
 * Neighbours of one role are one message, for many models refuse a dialogue that does not alternate. A tool call is
 * followed by its result before anything else is said, as all providers want it.
 */
export function toModelMessages(messages: readonly Told[]): ModelMessage[] {
  const dialogue = new Dialogue();
  for (const message of messages) {
    const { role = 'user', type, props } = message;
    if (UNTOLD.has(type)) continue;
    if (role === 'assistant' && type === 'tool_call' && isName(props['tool'])) dialogue.call(props['tool'], props);
    else if (role === 'assistant') dialogue.answer(textsOf(type, props));
    else if (role === 'user') dialogue.ask(partsOf(type, props));
  }
  return dialogue.messages();
}

/** The message of tool results that follows a completion with tool calls, one result for each call. It is JSON. */
export const toolResults = (outcomes: readonly ToolOutcome[]): Json =>
  ({ role: 'tool', content: outcomes.map(resultPart) }) as unknown as Json;

/** Thoughts are the model's own and not signed for another round; the rest was never meant to be read by it. */
const UNTOLD = new Set(['thinking', 'loading', 'event']);
const INTERRUPTED = 'interrupted';
/** A summary is a hint, not the content. */
const MAX_SUMMARY = 500;

type UserPart = TextPart | FilePart;
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

const isName = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';
const text = (content: string): TextPart => ({ type: 'text', text: content });

/** Gathers messages, joining those of one role. */
class Dialogue {
  readonly #messages: ModelMessage[] = [];
  #asked: UserPart[] = [];
  #answered: AssistantPart[] = [];
  #results: ToolResultPart[] = [];

  ask(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    this.#endAnswer();
    this.#asked.push(...parts);
  }

  answer(texts: readonly string[]): void {
    for (const said of texts) {
      this.#beginAnswer();
      const last = this.#answered.at(-1);
      if (last?.type === 'text') last.text += `\n\n${said}`;
      else this.#answered.push(text(said));
    }
  }

  call(tool: string, props: JsonObject): void {
    const given = isName(props['toolCallId']) ? identifier(props['toolCallId']) : `call_${this.#results.length}`;
    this.#endAsking();
    // Some servers number the calls of each round anew: the same id again is a later round's.
    if (this.#results.some(({ toolCallId }) => toolCallId === given)) this.#endAnswer();
    const call = { toolCallId: given, toolName: identifier(tool) };
    this.#answered.push({ type: 'tool-call', ...call, input: isJsonObject(props['input']) ? props['input'] : {} });
    this.#results.push(resultPart({ toolCallId: call.toolCallId, tool: call.toolName, ...outcomeOf(props) }));
  }

  messages(): ModelMessage[] {
    this.#endAsking();
    this.#endAnswer();
    return this.#messages;
  }

  #beginAnswer(): void {
    this.#endAsking();
    if (this.#results.length > 0) this.#endAnswer();
  }

  #endAsking(): void {
    const asked = this.#asked;
    if (asked.length === 0) return;
    this.#asked = [];
    const isText = asked.every((part) => part.type === 'text');
    // Simple servers know no lists of parts.
    const content = isText ? asked.map((part) => part.text).join('\n\n') : asked;
    this.#messages.push({ role: 'user', content });
  }

  #endAnswer(): void {
    if (this.#answered.length > 0) this.#messages.push({ role: 'assistant', content: this.#answered });
    if (this.#results.length > 0) this.#messages.push({ role: 'tool', content: this.#results });
    this.#answered = [];
    this.#results = [];
  }
}

/** Providers allow no other characters in ids and names of tools. */
const identifier = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);

function outcomeOf({ state, output, error }: JsonObject): Pick<ToolOutcome, 'output' | 'error'> {
  if (state === 'completed') return { output };
  return { error: state === 'failed' ? errorWords(error) : INTERRUPTED };
}

function errorWords(error: Json | undefined): string {
  if (isName(error)) return error;
  if (isJsonObject(error) && isName(error['message'])) return error['message'];
  return error ? JSON.stringify(error) : 'failed';
}

function resultPart({ toolCallId, tool, output, error }: ToolOutcome): ToolResultPart {
  const part = { type: 'tool-result', toolCallId, toolName: tool } as const;
  if (error !== undefined && error !== null) return { ...part, output: { type: 'error-text', value: error } };
  if (typeof output === 'string') return { ...part, output: { type: 'text', value: output } };
  return { ...part, output: { type: 'json', value: (output ?? null) as never } };
}

/** What an assistant's message says: models take only text as their own words. */
function textsOf(type: string, props: JsonObject): string[] {
  const { alt, url, filename, caption } = props;
  if (type === 'image') return [named('image', words(alt) ?? words(url)), words(caption)].filter(isText);
  if (type === 'file') return [named('file', words(filename), words(url))];
  return partsOf(type, props).flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

function partsOf(type: string, props: JsonObject): UserPart[] {
  switch (type) {
    case 'image':
      return [imageOf(props), ...textOf(props['caption'])];
    case 'file':
      return [fileOf(props)];
    case 'error':
      return textOf(props['message']);
    case 'action':
      return textOf(buttons(props['buttons']));
    case 'action_result':
      return props['value'] === undefined ? [] : [text(JSON.stringify(props['value']))];
    default:
      return contentOf(props['content'] ?? props['text']);
  }
}

const textOf = (value: Json | undefined): UserPart[] => (isText(value) ? [text(value)] : []);
const isText = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== '';

const imageOf = ({ url, alt }: JsonObject): UserPart => filePart(url, 'image') ?? text(named('image', words(alt)));

function fileOf(props: JsonObject): UserPart {
  const mediaType = props['mediaType'] ?? props['mimeType'];
  const filename = words(props['filename']);
  if (typeof mediaType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) {
    const part = filePart(props['url'], mediaType);
    if (part !== null) return filename === undefined ? part : { ...part, filename };
  }
  return text(named('file', filename, words(props['url'])));
}

const words = (value: Json | undefined): string | undefined =>
  isText(value) ? beginning(value, MAX_SUMMARY) : undefined;

/** One line for what was offered to choose from. */
function buttons(list: Json | undefined): Json {
  if (!Array.isArray(list)) return null;
  const labels = (list as readonly Json[]).map((button) => {
    if (!isJsonObject(button)) return words(button);
    return [button['label'], button['title'], button['text'], button['value']].map(words).find(isText);
  });
  const shown = labels.filter((label) => label !== undefined).map((label) => JSON.stringify(label));
  return shown.length === 0 ? null : beginning(`[offered to choose: ${shown.join(', ')}]`, MAX_SUMMARY);
}

/** A text, or a list of parts in the AI SDK's or OpenAI's form; what is neither is left out. */
function contentOf(content: Json | undefined): UserPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return (content as readonly Json[]).flatMap((part) => (isJsonObject(part) ? partOf(part) : textOf(part)));
}

/** Only what is known of a part is taken over: options of a provider are no person's to set. */
function partOf(part: JsonObject): UserPart[] {
  const { type, image_url: imageUrl, mediaType, filename } = part;
  if (type === 'text') return textOf(part['text']);
  if (type === 'image' && isName(part['image'])) return [imageOf({ url: part['image'] })];
  if (type === 'image_url') {
    const url = isJsonObject(imageUrl) ? imageUrl['url'] : imageUrl;
    return isName(url) ? [imageOf({ url })] : [];
  }
  if (type !== 'file' || !isName(mediaType)) return [];
  return [fileOf({ mediaType, filename: filename ?? null, url: part['data'] ?? part['url'] ?? null })];
}
