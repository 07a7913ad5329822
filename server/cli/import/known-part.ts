import { isJsonObject, type Json, type JsonObject } from '../../../protocol/index.js';
import { restOf, type Part } from './part.js';
import { toolCallOf } from './tool-call.js';

const TEXTS = new Set(['text', 'input_text', 'output_text', 'user_input']);
const THOUGHTS = new Set(['think', 'thinking', 'reasoning']);
const MEDIA: Readonly<Record<string, string>> = {
  image: 'image',
  image_url: 'image',
  input_image: 'image',
  audio: 'audio',
  audio_url: 'audio',
  input_audio: 'audio',
  video: 'video',
  video_url: 'video',
  file: 'file',
  input_file: 'file',
  document: 'file',
};
/** Fields that stand around a part's own words: without one more of its own it is none. */
const AROUND = new Set(['type', 'id', 'begin', 'end', 'done', 'new', 'delta', 'role', 'name']);

/**
 * What a piece of the old content is: one of the old system's (`{type, text, props}`), or a part in the form of a model's
 * API. Null for JSON of any other kind: somebody's words, and not a form.
 */
export function partOf(value: JsonObject): Part | null {
  const { type, text, props } = value;
  if (typeof type !== 'string') return typeof text === 'string' && isPlain(value) ? textLike(value, 'text') : null;
  if (TEXTS.has(type) && typeof text === 'string') return named(type, textLike(value, 'text'));
  if (THOUGHTS.has(type)) return named(type, thoughtOf(value));
  const tool = toolCallOf(value);
  if (tool !== null) return tool;
  const media = Object.hasOwn(MEDIA, type) ? MEDIA[type] : undefined;
  if (media !== undefined) return named(type, mediaOf(value, type, media));
  if (isJsonObject(props)) return named(type, shown(type, props, value));
  if (typeof text !== 'string') return null;
  return named(
    type,
    type === 'error' ? { type, props: { message: text }, ...restOf(value, ['type', 'text']) } : textLike(value, type),
  );
}

const named = (was: string, part: Part): Part => (part.type === was ? part : { ...part, was });

const isPlain = (value: JsonObject): boolean =>
  Object.keys(value).every((key) => key === 'text' || key === 'props' || AROUND.has(key));

const textLike = (value: JsonObject, type: string): Part => ({
  type,
  props: { content: value['text'] ?? '' },
  ...restOf(value, ['type', 'text']),
});

/** Thoughts stood in a field of their own, or in the `text` of their props. */
function thoughtOf(value: JsonObject): Part {
  const { props } = value;
  const key = ['text', 'thinking', 'reasoning'].find((name) => typeof value[name] === 'string' && value[name] !== '');
  if (key !== undefined)
    return { type: 'thinking', props: { content: value[key] as Json }, ...restOf(value, ['type', key]) };
  const content = isJsonObject(props) ? props['text'] : undefined;
  if (!isJsonObject(props) || typeof content !== 'string')
    return { type: 'thinking', props: { content: '' }, ...restOf(value, ['type']) };
  const { rest: more } = restOf(props, ['text']);
  const around = restOf(value, ['type', 'props']).rest;
  const rest = { ...around, ...(more === undefined ? {} : { props: more }) };
  return { type: 'thinking', props: { content }, ...(Object.keys(rest).length === 0 ? {} : { rest }) };
}

/** A part of a type with props of its own. */
function shown(type: string, props: JsonObject, value: JsonObject): Part {
  const { text } = value;
  const isSaid = typeof text === 'string' && text !== '' && !('content' in props);
  return {
    type,
    props: isSaid ? { ...props, content: text } : props,
    ...restOf(value, ['type', 'props', ...(isSaid || text === '' ? ['text'] : [])]),
  };
}

/** `{image_url: {url}}`, `{file: {…}}`, `{source: {…}}`, or the fields themselves. */
function mediaOf(value: JsonObject, type: string, media: string): Part {
  if (isJsonObject(value['props'])) return shown(media, value['props'], value);
  const holder = [type, media, `${media}_url`, 'source'].find((key) => key in value);
  const held = holder === undefined ? undefined : value[holder];
  if (typeof held === 'string') return { type: media, props: { url: held }, ...restOf(value, ['type', holder ?? '']) };
  if (isJsonObject(held)) return { type: media, props: located(held), ...restOf(value, ['type', holder ?? '']) };
  const { type: _type, ...fields } = value;
  return { type: media, props: located(fields) };
}

/** With the `url` by which media are shown; what stands inline becomes a `data:` URL where its kind is known. */
function located(fields: JsonObject): JsonObject {
  if ('url' in fields || 'mediaType' in fields) return fields;
  const { file_data: whole, ...others } = fields;
  if (typeof whole === 'string') return { ...others, url: whole };
  const { data, media_type: mediaType, ...more } = fields;
  if (typeof data !== 'string' || typeof mediaType !== 'string') return fields;
  return { ...more, mediaType, url: `data:${mediaType};base64,${data}` };
}

/** What the old system called the fields of a file. */
const FILE_FIELDS = { name: 'filename', content_type: 'mediaType', bytes: 'size' } as const;

/** A file that hung on a message of the old system. */
export function attachmentPart(value: Json): Part {
  if (!isJsonObject(value)) return { type: 'file', props: { value } };
  const { type, ...fields } = value;
  const kind = [fields['content_type'], type].find((text) => typeof text === 'string' && text !== '');
  const media = /^(image|audio|video)(\/|$)/.exec(typeof kind === 'string' ? kind : '')?.[1] ?? 'file';
  const props: Record<string, Json> = { ...fields };
  for (const [from, to] of Object.entries(FILE_FIELDS)) {
    const field = props[from];
    if (field === undefined || to in props) continue;
    delete props[from];
    props[to] = field;
  }
  return { type: media, props, ...(type === undefined || type === media ? {} : { rest: { type } }) };
}
