import type { FilePart, LanguageModel, ModelMessage, TextPart } from 'ai';
import { splitHalf } from '../../protocol/index.js';

/** A name is a hint, not the content. */
const MAX_NAME = 500;

/** A part by URL, as JSON; null for a URL that no provider could take. */
export function filePart(url: unknown, mediaType: string): FilePart | null {
  if (typeof url !== 'string') return null;
  const inline = /^data:([\w.+-]+\/[\w.+-]+);base64,[A-Za-z0-9+/]+={0,2}$/.exec(url);
  if (inline !== null) return { type: 'file', data: url, mediaType: inline[1] as string };
  return isWebUrl(url) ? { type: 'file', data: url, mediaType } : null;
}

/** One line for what cannot be shown to a model. */
export const named = (mediaType: string, ...words: readonly (string | undefined)[]): string =>
  `[${[mediaType.split('/', 1)[0], ...words.filter((word) => word !== undefined && word !== '')].join(': ')}]`;

/** The beginning of a text, never half of a surrogate pair. */
export const beginning = (text: string, max: number): string =>
  text.length <= max ? text : `${splitHalf(text.slice(0, max - 1)).head}…`;

function isWebUrl(url: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

/**
 * Passes every URL on to the provider as it is. The AI SDK would fetch what the provider is not known to take, from
 * inside our network, wherever a person's message points (server-side request forgery).
 */
export const refuseDownloads = async (requests: readonly unknown[]): Promise<null[]> => requests.map(() => null);

/**
 * The messages with files that this provider would refuse as texts that name them: one such file in a chat would fail
 * every later turn. Images stay, for nearly every provider takes their URLs, whether or not it says so.
 */
export async function namedFiles(messages: readonly ModelMessage[], model: LanguageModel): Promise<ModelMessage[]> {
  const supported = typeof model === 'object' && 'supportedUrls' in model ? await model.supportedUrls : {};
  return messages.map((message) => {
    if (message.role !== 'user' || !Array.isArray(message.content)) return message;
    const content = message.content.map((part) => (isRefused(part, supported) ? asName(part as FilePart) : part));
    return { ...message, content };
  });
}

/** Besides images, what the plainest of providers takes inline. */
const INLINE = /^((text|video)\/.+|audio\/(wav|mp3|mpeg)|application\/pdf)$/;

function isRefused(part: { type: string }, supported: Readonly<Record<string, readonly RegExp[]>>): boolean {
  const { type, data, mediaType } = part as FilePart;
  if (type !== 'file' || typeof data !== 'string') return false;
  if (mediaType === 'image' || mediaType.startsWith('image/')) return false;
  if (data.startsWith('data:')) return !INLINE.test(mediaType);
  return !Object.entries(supported).some(
    ([pattern, urls]) => matches(pattern, mediaType) && urls.some((url) => url.test(data)),
  );
}

/** Whether a media type is of a provider's pattern: `*`, `image/*` or the type itself. */
function matches(pattern: string, mediaType: string): boolean {
  if (pattern === '*' || pattern === '*/*') return true;
  return pattern.endsWith('/*') ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType;
}

function asName({ data, mediaType, filename }: FilePart): TextPart {
  const url = typeof data === 'string' && !data.startsWith('data:') ? beginning(data, MAX_NAME) : undefined;
  return { type: 'text', text: named(mediaType, filename, url) };
}
