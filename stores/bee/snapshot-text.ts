import { isJsonObject } from '../../protocol/index.js';

/**
 * The snapshot in a text that a memory's `serialize` made. The framework's own reader makes anything that such a text names,
 * functions too; this one reads plain values and refuses all else.
 *
 * @throws {SyntaxError|TypeError}
 */
export function plainText(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  const root = isJsonObject(parsed) ? plain(parsed['__root']) : null;
  if (!isJsonObject(root) || !('snapshot' in root)) throw new TypeError('There is no snapshot in this text.');
  return root['snapshot'];
}

const WORDS = new Map<string, (value: unknown) => unknown>([
  ['Object', (value) => (isJsonObject(value) ? mapped(value) : {})],
  ['Array', (value) => (Array.isArray(value) ? value.map(plain) : [])],
  ['Number', Number],
  ['String', String],
  ['Boolean', (value) => value === true || value === 'true'],
  ['Null', () => null],
  ['Undefined', () => undefined],
]);

function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (!isJsonObject(node)) return node;
  if (node['__serializer'] !== true) return mapped(node);
  const kind = node['__class'];
  const read = typeof kind === 'string' ? WORDS.get(kind) : undefined;
  if (!read) throw new TypeError('A snapshot of a memory holds plain values.');
  return read(node['__value']);
}

const mapped = (value: object): unknown =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
