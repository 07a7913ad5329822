import { commands, type CommandName, type ErrorBody } from '../../protocol/index.js';
import { Refused, type As } from '../harness/peer.js';

/** Headers with which a caller says who they are (CON-1). */
export function headersOf(as: As): Record<string, string> {
  const { userId, teamId, tenantId, roles } = as;
  const said = { 'x-user-id': userId, 'x-team-id': teamId, 'x-tenant-id': tenantId, 'x-roles': roles?.join(',') };
  return Object.fromEntries(
    Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The header with which a caller shows a token; none without one. */
export const bearerOf = (token: string | null | undefined): Record<string, string> =>
  token === null || token === undefined ? {} : { authorization: `Bearer ${token}` };

/** What a command's route answers, as the table of commands says. */
export async function responseTo(
  url: string,
  headers: Record<string, string>,
  name: CommandName,
  args: Record<string, unknown>,
): Promise<Response> {
  const { http } = commands[name];
  if (!http) throw new Error(`${name} has no route`);
  const rest = { ...args };
  const path = http.path.replace(/:(\w+)/g, (_, parameter: string) => {
    const value = String(rest[parameter]);
    delete rest[parameter];
    return encodeURIComponent(value);
  });
  const isQuery = http.method === 'get' || http.method === 'delete';
  const query = new URLSearchParams();
  if (isQuery)
    for (const [key, value] of Object.entries(rest)) query.set(key === 'messageIds' ? 'ids' : key, String(value));
  return fetch(`${url}${path}${isQuery ? `?${query}` : ''}`, {
    method: http.method.toUpperCase(),
    headers: { ...headers, ...(isQuery ? {} : { 'content-type': 'application/json' }) },
    ...(isQuery ? {} : { body: JSON.stringify(rest) }),
  });
}

/** A command over HTTP; with a token where the server asks for one. @throws {Refused} */
export async function requestAs(
  url: string,
  as: As,
  name: CommandName,
  args: Record<string, unknown>,
  token?: string,
): Promise<unknown> {
  const response = await responseTo(url, { ...headersOf(as), ...bearerOf(token) }, name, args);
  const body: unknown = await response.json();
  if (!response.ok) throw new Refused(name, (body as { error: ErrorBody }).error);
  return body;
}
