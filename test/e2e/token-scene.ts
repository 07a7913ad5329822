import { Agent } from '../harness/agent.js';
import { movableClock, type MovableClock } from '../harness/movable-clock.js';
import type { As, Peer } from '../harness/peer.js';
import { Person, type FollowedChat } from '../harness/person.js';
import { startServer, type ServerOptions, type TestServer } from '../harness/server.js';
import { JWT_ENV, tokenFor, type TokenOptions } from '../harness/tokens.js';
import type { ErrorBody } from '../../protocol/index.js';

export const ALICE = { userId: 'alice', teamId: 'blue', tenantId: 'acme', roles: ['user'] } satisfies As;
export const BOB = { ...ALICE, userId: 'bob' } satisfies As;
export const ADMIN = { ...ALICE, userId: 'root', roles: ['admin'] } satisfies As;
export const BOT = { userId: 'bot', tenantId: 'acme', roles: ['agent'] } satisfies As;

/** When the tokens of most tests end, and by when they surely have. */
export const SHORT_S = 60;
export const SHORT_OVER_MS = (SHORT_S + 1) * 1000;
export const GRACE_MS = 10_000;

export interface TokenServer {
  readonly server: TestServer;
  readonly url: string;
  readonly clock: MovableClock;
  /** A token that ends so many seconds from now, by the server's clock, or less than one second later. */
  readonly token: (as: As, seconds?: number, options?: TokenOptions) => Promise<string>;
}

/** A server that asks for tokens, on a clock that the test moves forward. */
export async function tokenServer(options: ServerOptions = {}): Promise<TokenServer> {
  const clock = movableClock();
  const env = { ...JWT_ENV, COALESCE_MS: '0', AUTH_GRACE_MS: `${GRACE_MS}`, ...options.env };
  const server = await startServer({ clock, ...options, env });
  return {
    server,
    url: server.url,
    clock,
    token: (as, seconds = 7200, more = {}) =>
      tokenFor(as, { ...more, claims: { exp: Math.ceil(clock.now() / 1000) + seconds, ...more.claims } }),
  };
}

export interface Team extends TokenServer {
  /** Her token ends soon; she follows the chat, which is hers. */
  readonly alice: Person;
  readonly hers: FollowedChat;
  /** His does not. */
  readonly bob: Person;
  readonly his: FollowedChat;
  readonly agent: Agent;
  readonly chatId: string;
}

/** Two of a team in one chat, and an agent that answers. */
export async function team(options: ServerOptions = {}): Promise<Team> {
  const base = await tokenServer(options);
  const { url, token } = base;
  const agent = await new Agent(url, ['bot'], { concurrency: 100 }).open({ token: await token(BOT) });
  await agent.attach();
  const alice = await new Person(url).open({ token: await token(ALICE, SHORT_S) });
  const chatId = await alice.createChat({ assistantId: 'bot', share: 'team' });
  const hers = await alice.follow(chatId);
  const bob = await new Person(url).open({ token: await token(BOB) });
  const his = await bob.follow(chatId);
  return { ...base, alice, hers, bob, his, agent, chatId };
}

/** The error object of a refused connection. */
export async function connectError(opening: Promise<Peer>): Promise<ErrorBody> {
  const error: unknown = await opening.then(
    () => new Error('it was let in'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error) || !('data' in error)) throw error;
  return error.data as ErrorBody;
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
