import { isJsonObject, wellFormed, type Json, type JsonObject } from '../../../protocol/index.js';
import { readJson } from './exact-json.js';
import { attachmentPart, partOf } from './known-part.js';
import { restOf, textPart, type Part } from './part.js';
import { toolCallOf, toolResultOf } from './tool-call.js';

/** What a row's content has become. */
export interface Content {
  /** One at least. */
  readonly parts: readonly Part[];
  /** What is not as it was, in words; none where everything is. */
  readonly changes: readonly string[];
}

/** Who says it: tools give results, whatever their form. */
export interface Speaker {
  readonly role: string | null;
  readonly name: string | null;
}

const MENDED = 'characters that no text may hold became U+FFFD';
const AROUND_A_MESSAGE = new Set([
  ...['id', 'text', 'type', 'props', 'done', 'new', 'delta', 'actions', 'attachments', 'role', 'name', 'mentions'],
  ...['menions', 'assistant_id', 'assistant_name', 'assistant_avatar', 'data', 'begin', 'end'],
]);

/**
 * Types and props from raw content. The old system kept three kinds of it: words, a message of its own as a JSON object,
 * and a list of those; models' APIs have their messages and parts beside. JSON that is nothing of the sort is what
 * somebody wrote, and stays a text.
 */
export function readContent(raw: string | null, speaker: Speaker): Content {
  if (raw === null || raw.trim() === '')
    return { parts: [textPart(raw ?? '')], changes: ['it says nothing: kept as an empty text'] };
  const isTool = speaker.role === 'tool' || speaker.role === 'function';
  const asText = (changes: readonly string[]): Content => {
    const text = wellFormed(raw);
    const parts = [isTool ? toolResultOf(text, speaker.name, undefined) : textPart(text)];
    return { parts, changes: text === raw ? changes : [...changes, MENDED] };
  };
  if (!looksLikeJson(raw)) return asText([]);
  const read = readJson(raw);
  if (!read.isExact) {
    return asText([
      `it looks like JSON ${read.reason === null ? 'and is none' : `and cannot be told as such (${read.reason})`}: kept as a text`,
    ]);
  }
  const changes = read.isMended ? [MENDED] : [];
  const parts = isTool ? resultsOf(read.value, speaker) : partsOf(read.value);
  if (parts === null) return asText([]);
  if (parts.length === 0)
    return {
      parts: [textPart('')],
      changes: [...changes, `it says nothing (${raw.slice(0, 20)}): kept as an empty text`],
    };
  return { parts, changes };
}

/** As the old system told it, or cut off: its column held no more than 64 KiB in some databases. */
const looksLikeJson = (text: string): boolean =>
  /^\s*(\{[^]*\}|\[[^]*\])\s*$/.test(text) || /^\s*(\[\s*)?\{\s*"/.test(text);

/** Null for what is no form that is known here. */
function partsOf(value: Json): readonly Part[] | null {
  if (Array.isArray(value)) return listOf(value as readonly Json[]);
  return isJsonObject(value) ? objectOf(value) : null;
}

/** A list of parts is one where each of them is known. */
function listOf(list: readonly Json[]): readonly Part[] | null {
  const parts: Part[] = [];
  for (const one of list) {
    const some = isJsonObject(one) ? objectOf(one) : null;
    if (some === null) return null;
    parts.push(...some);
  }
  return parts;
}

function objectOf(value: JsonObject): readonly Part[] | null {
  if (isModelMessage(value)) return modelMessageOf(value);
  const { attachments, ...said } = value;
  const files = Array.isArray(attachments) ? (attachments as readonly Json[]).map(attachmentPart) : null;
  const part = partOf(files === null ? value : said);
  if (part !== null) return withFiles(part, files ?? []);
  const isMessage = Object.keys(value).every((key) => AROUND_A_MESSAGE.has(key));
  return files !== null && isMessage ? within(files, said) : null;
}

/** What stands around parts, and is in none of them, is kept with the first. */
function within(parts: readonly Part[], around: JsonObject): readonly Part[] {
  if (Object.keys(around).length === 0) return parts;
  const [first = textPart(''), ...others] = parts;
  return [{ ...first, around: [...(first.around ?? []), around] }, ...others];
}

/** Where there are files and no words, the files are all. */
function withFiles(part: Part, files: readonly Part[]): readonly Part[] {
  const isSilent = part.type === 'text' && part.props['content'] === '' && part.rest === undefined;
  return isSilent && files.length > 0 ? files : [part, ...files];
}

const ROLES = new Set<Json | undefined>(['user', 'assistant', 'system', 'developer', 'tool', 'function']);

const isModelMessage = (value: JsonObject): boolean =>
  ROLES.has(value['role']) && ('content' in value || Array.isArray(value['tool_calls']));

/** A whole message of a model's API: a tool's result, or its words and then the calls that it makes. */
function modelMessageOf(value: JsonObject): readonly Part[] | null {
  const { content = null, tool_calls: calls, role } = value;
  if (role === 'tool' || role === 'function') return toolMessageOf(value, content);
  const said = typeof content === 'string' ? [textPart(content)] : content === null ? [] : partsOf(content);
  const called = Array.isArray(calls) ? (calls as readonly Json[]).map(callOf) : [];
  if (said === null || called.includes(null)) return null;
  const isSilent = called.length > 0 && content === '';
  const parts = [...(isSilent ? [] : said), ...(called as Part[])];
  return within(parts, restOf(value, ['content', ...(Array.isArray(calls) ? ['tool_calls'] : [])]).rest ?? {});
}

function toolMessageOf(value: JsonObject, content: Json): readonly Part[] {
  const { name, tool_call_id: toolCallId } = value;
  const shown = ['name', 'tool_call_id'].filter((key) => typeof value[key] === 'string');
  const part = toolResultOf(content, typeof name === 'string' ? name : null, toolCallId);
  return within([part], restOf(value, ['content', ...shown]).rest ?? {});
}

const callOf = (value: Json): Part | null => (isJsonObject(value) ? toolCallOf({ type: 'function', ...value }) : null);

/** What a tool said: results in a form that is known, or all of it as one. */
function resultsOf(value: Json, { name }: Speaker): readonly Part[] {
  const parts = partsOf(value);
  if (parts?.length && parts.every(({ type }) => type === 'tool_call')) return parts;
  const toolCallId = isJsonObject(value) ? value['tool_call_id'] : undefined;
  return [toolResultOf(value, name, toolCallId)];
}
