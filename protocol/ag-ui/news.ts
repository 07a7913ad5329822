import type { InputMessage, Message } from '../message.js';
import type { JsonObject } from '../json.js';
import { AG_UI, agUiMessages, RESULT_TYPE, sentAs } from './history.js';
import type { AgUiMessage } from './message.js';
import type { RunAgentInput, SentMessage, SentPart } from './run-input.js';

/**
 * What a client says that the chat does not know: the messages of people, and results of calls that the client ran, at the
 * end of its history, behind the last that the chat holds or that is an assistant's. The chat's history is the truth: whatever
 * else a client claims was said is left alone.
 */
export function newsOf(sent: readonly SentMessage[], known: ReadonlySet<string>): SentMessage[] {
  const news: SentMessage[] = [];
  for (const message of sent.toReversed()) {
    if (message.role === 'system' || message.role === 'developer') continue;
    if ((message.role !== 'user' && message.role !== 'tool') || known.has(message.id)) break;
    news.unshift(message);
  }
  return news;
}

/** The ids under which a client holds these messages. */
export const knownIds = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(agUiMessages(messages).map(({ id }) => id));

/** News as the input of a turn. */
export function inputOf(news: readonly SentMessage[]): InputMessage[] {
  return news.flatMap((message): InputMessage[] => {
    const { id: sentId, role } = message;
    const common = { metadata: sentAs(sentId) };
    if (role === 'tool') {
      const { toolCallId: messageId, content } = message;
      return [{ ...common, type: RESULT_TYPE, props: { messageId, value: textOfContent(content) } }];
    }
    if (role !== 'user') return [];
    const { content } = message;
    const parts: readonly SentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return parts.map((part) => ({ ...common, ...inputOfPart(part) }));
  });
}

function inputOfPart(part: SentPart): Pick<InputMessage, 'type' | 'props'> {
  if (part.type === 'text') return { type: 'text', props: { content: part.text } };
  const { source, metadata } = part;
  const url = source.type === 'url' ? source.value : `data:${source.mimeType};base64,${source.value}`;
  const named = typeof metadata?.['filename'] === 'string' ? { filename: metadata['filename'] } : {};
  const typed = source.mimeType === undefined ? {} : { mediaType: source.mimeType };
  return { type: part.type === 'image' ? 'image' : 'file', props: { url, ...named, ...typed } };
}

const textOfContent = (content: string | readonly SentPart[]): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join('');

/** The turn's metadata: what the client gives for it, and the tools and the context that it offers. */
export function turnMetadata({ tools = [], context = [], forwardedProps }: RunAgentInput): JsonObject | null {
  const offered = { ...(tools.length > 0 ? { tools } : {}), ...(context.length > 0 ? { context } : {}) };
  const given = forwardedProps?.metadata ?? null;
  return Object.keys(offered).length === 0 ? given : { ...given, [AG_UI]: offered };
}

/**
 * Whether the client holds the conversation as it stands: then nothing has to be told of it. Activities are never sent, so
 * nothing is known of them.
 *
 * @param held the newest of the conversation, and whether there is more before it: the client may hold that too
 */
export function isUpToDate(
  sent: readonly SentMessage[],
  held: { readonly messages: readonly AgUiMessage[]; readonly hasMore: boolean },
): boolean {
  const theirs = sent.filter(({ role }) => role !== 'system' && role !== 'developer' && role !== 'activity');
  const ours = held.messages.filter(({ role }) => role !== 'activity');
  const surplus = theirs.length - ours.length;
  if (surplus < 0 || (surplus > 0 && !held.hasMore)) return false;
  return ours.every((message, index) => isSame(message, theirs[surplus + index] as SentMessage));
}

function isSame(ours: AgUiMessage, theirs: SentMessage): boolean {
  if (ours.id !== theirs.id || ours.role !== theirs.role) return false;
  const content = theirs.content ?? ('toolCalls' in ours ? undefined : '');
  return isSameContent(ours.content, content) && callsOf(ours) === callsOf(theirs);
}

/** Of what others said nothing was looked at: it may be nested deeper than can be written. */
function isSameContent(ours: AgUiMessage['content'], theirs: unknown): boolean {
  if (ours === undefined || typeof ours === 'string') return ours === theirs;
  return Array.isArray(ours) && Array.isArray(theirs) && JSON.stringify(ours) === JSON.stringify(theirs);
}

/** What the calls of a message are, whatever order their fields are in. */
function callsOf(message: object): string {
  const calls = 'toolCalls' in message && Array.isArray(message.toolCalls) ? (message.toolCalls as unknown[]) : [];
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return JSON.stringify(
    calls.map((call) => {
      const { id, function: called } = (call ?? {}) as {
        id?: unknown;
        function?: { name?: unknown; arguments?: unknown };
      };
      return [text(id), text(called?.name), text(called?.arguments)];
    }),
  );
}
