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

/** A command over HTTP, as the table of commands says. @throws {Refused} */
export async function requestAs(
  url: string,
  as: As,
  name: CommandName,
  args: Record<string, unknown>,
): Promise<unknown> {
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
  const response = await fetch(`${url}${path}${isQuery ? `?${query}` : ''}`, {
    method: http.method.toUpperCase(),
    headers: { ...headersOf(as), ...(isQuery ? {} : { 'content-type': 'application/json' }) },
    ...(isQuery ? {} : { body: JSON.stringify(rest) }),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Refused(name, (body as { error: ErrorBody }).error);
  return body;
}
