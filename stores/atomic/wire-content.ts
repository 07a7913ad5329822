import { isMedia } from './media.js';

/** Stands for a value of which nothing is left once what is no text has been taken out. */
const NOTHING = Symbol('nothing');

/**
 * A message's content as a model's client takes it: compact JSON text, non-ASCII unescaped, fields in the order in which
 * the schema declares them. Where media occur, at any depth, a list instead: the JSON text of what remains (left out when
 * nothing does), then the media in the order in which they stand. What holds media only goes with them; a list that holds
 * others too keeps those.
 */
export function wireContent(data: object): string | unknown[] {
  const found: unknown[] = [];
  const rest = withoutMedia(data, found);
  if (found.length === 0) return JSON.stringify(rest);
  return rest === NOTHING ? found : [JSON.stringify(rest), ...found];
}

/** The JSON text without media; empty when nothing else is there. */
export function jsonText(data: object): string {
  const rest = withoutMedia(data, []);
  return rest === NOTHING ? '' : JSON.stringify(rest);
}

function withoutMedia(value: unknown, found: unknown[]): unknown {
  if (isMedia(value)) {
    found.push(value.part);
    return NOTHING;
  }
  if (value === null || typeof value !== 'object') return value;
  const before = found.length;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withoutMedia(item, found)).filter((item) => item !== NOTHING);
    return items.length === 0 && found.length > before ? NOTHING : items;
  }
  const fields = Object.entries(value)
    .map(([key, field]) => [key, withoutMedia(field, found)] as const)
    .filter(([, field]) => field !== NOTHING);
  return fields.length === 0 && found.length > before ? NOTHING : Object.fromEntries(fields);
}
