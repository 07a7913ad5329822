import { expect } from 'vitest';
import { ERRORS, type Ack, type CommandName, type ErrorBody } from '../../protocol/index.js';
import type { Peer } from '../harness/peer.js';
import { bearerOf, responseTo } from './request-as.js';

/** What somebody is told: `ok` or the code of the refusal, and every word of it, to compare. */
export interface Told {
  readonly outcome: string;
  readonly words: unknown;
}

export async function askBySocket(peer: Peer, name: string, args: Record<string, unknown>): Promise<Told> {
  const ack: Ack<unknown> = await peer.ask(name, args);
  return { outcome: ack.ok ? 'ok' : ack.error.code, words: ack };
}

/** Headers that no two answers share. */
const OF_THE_MOMENT = ['date', 'x-request-id'];

/** The status is the one that the table of errors has for the code. */
async function toldBy(response: Response): Promise<Told> {
  const { status, headers } = response;
  const body: unknown = await response.json();
  const said = [...headers].filter(([name]) => !OF_THE_MOMENT.includes(name));
  const words = { status, headers: Object.fromEntries(said), body };
  if (response.ok) return { outcome: 'ok', words };
  const { code } = (body as { error: ErrorBody }).error;
  expect(status, `${code} over HTTP`).toBe(ERRORS[code].status);
  return { outcome: code, words };
}

export const askByRequest = async (
  url: string,
  token: string | null,
  name: CommandName,
  args: Record<string, unknown>,
): Promise<Told> => toldBy(await responseTo(url, bearerOf(token), name, args));

/** A GET of a route that stands for no command; a stream is left once it has begun. */
export async function askByPath(
  url: string,
  token: string | null,
  path: string,
  args: Record<string, unknown>,
): Promise<Told> {
  const there = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(args[name])));
  const response = await fetch(url + there, { headers: bearerOf(token) });
  if (!response.ok) return toldBy(response);
  await response.body?.cancel();
  return { outcome: 'ok', words: response.status };
}
