import type { Request } from 'express';
import * as z from 'zod';
import { ChatError, isJsonObject, type CommandName, type CommandSpec } from '../../../protocol/index.js';

/** What a query parameter is turned into before the schema sees it. */
type Form = 'integer' | 'boolean' | 'list' | 'text';
/** Name in the query → argument and form. */
export type QueryShape = ReadonlyMap<string, { readonly argument: string; readonly form: Form }>;

/** Section 8 calls them `ids`; everything else is called as the argument is. */
const QUERY_NAMES: Readonly<Record<string, string>> = { messageIds: 'ids' };

const forms: Readonly<Record<string, Form>> = { integer: 'integer', boolean: 'boolean', array: 'list' };

/** The query parameters of a command that is bound to GET or DELETE: its arguments, but those that the path names. */
export function queryShape({ args }: Pick<CommandSpec, 'args'>, path: string): QueryShape {
  const { properties = {} } = z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' });
  const inPath = pathParameters(path);
  const entries = Object.entries(properties).filter(([argument]) => !inPath.includes(argument));
  return new Map(
    entries.map(([argument, schema]) => {
      const type = typeof schema === 'object' ? schema.type : undefined;
      const form = (typeof type === 'string' ? forms[type] : undefined) ?? 'text';
      return [QUERY_NAMES[argument] ?? argument, { argument, form }];
    }),
  );
}

export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);

/**
 * The arguments in a query. A text that is no number stays a text, for the schema to refuse by name: nothing is guessed,
 * rounded or cut (C28).
 *
 * @throws {ChatError} `bad_request` for a parameter given twice
 */
export function readQuery(request: Request, shape: QueryShape): Record<string, unknown> {
  const [, search = ''] = /^[^?]*\?(.*)$/s.exec(request.originalUrl) ?? [];
  const query = new URLSearchParams(search);
  const given: Record<string, unknown> = {};
  for (const [name, { argument, form }] of shape) {
    const [text, ...more] = query.getAll(name);
    if (more.length > 0)
      throw new ChatError('bad_request', `${name}: given more than once`, { details: { path: argument } });
    if (text !== undefined) given[argument] = formed(text, form);
  }
  return given;
}

function formed(text: string, form: Form): unknown {
  if (form === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (form === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (form === 'list') return text.split(',');
  return text;
}

/**
 * From a request to the arguments of a command, still to be parsed: query (GET and DELETE) over body, path over both.
 *
 * @throws {ChatError} `bad_request`
 */
export function argumentReader(
  name: CommandName,
  spec: CommandSpec & Required<Pick<CommandSpec, 'http'>>,
): (request: Request) => Record<string, unknown> {
  const { method, path } = spec.http;
  const shape: QueryShape = method === 'get' || method === 'delete' ? queryShape(spec, path) : new Map();
  return (request) => {
    const body = method === 'get' ? {} : bodyOf(request);
    const key = name === 'turn:start' ? idempotencyKey(request, body) : {};
    return { ...body, ...key, ...readQuery(request, shape), ...request.params };
  };
}

function bodyOf(request: Request): Record<string, unknown> {
  const body: unknown = request.body ?? {};
  if (!isJsonObject(body))
    throw new ChatError('bad_request', 'The body has to be a JSON object.', { details: { path: '' } });
  return body;
}

/** Section 8: the header is the `requestId`. */
function idempotencyKey(request: Request, body: Record<string, unknown>): { requestId?: string } {
  const requestId = request.get('idempotency-key');
  if (requestId === undefined) return {};
  if (body.requestId !== undefined && body.requestId !== requestId) {
    throw new ChatError('bad_request', 'requestId: the body names another one than Idempotency-Key', {
      details: { path: 'requestId' },
    });
  }
  return { requestId };
}
