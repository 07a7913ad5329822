import { PROTOCOL_VERSION, type ChatError, type UserRole } from '../protocol/index.js';
import { tokenFailed } from './local-error.js';
import type { Handshake } from './transport.js';

/** Why a token is asked for. */
export interface TokenRequest {
  /** The server's refusal of the token given last; null where it refused none. A cached token is of no use then. */
  readonly refused: ChatError | null;
}

/**
 * A token, or a function that gives one. The function is asked for every attempt to connect and when the server says
 * that the token has expired; after a refusal it is asked once more, then the client closes (C30). It may throw a
 * ChatError of its own: one that is not retryable closes the client.
 */
export type TokenSource = string | ((request: TokenRequest) => string | Promise<string>);

/** Who the caller says to be, for a server that runs without authentication (CON-1). */
export interface DevelopmentAuth {
  /** Default `local`. */
  readonly userId?: string;
  readonly teamId?: string | null;
  readonly tenantId?: string | null;
  /** Default `["user", "agent"]`. */
  readonly roles?: readonly UserRole[];
}

export interface Credentials {
  readonly token?: TokenSource | undefined;
  readonly auth?: DevelopmentAuth | undefined;
}

export const canRefresh = ({ token }: Credentials): boolean => typeof token === 'function';

/** @throws {ChatError} `internal`, or what the function threw if that was a ChatError */
export async function tokenFrom(source: TokenSource, refused: ChatError | null): Promise<string> {
  if (typeof source === 'string') return source;
  try {
    return await source({ refused });
  } catch (error) {
    throw tokenFailed(error);
  }
}

/** What is said when connecting. @throws as {@link tokenFrom} */
export async function handshakeOf({ token, auth }: Credentials, refused: ChatError | null): Promise<Handshake> {
  const held = token === undefined ? undefined : await tokenFrom(token, refused);
  return { ...auth, ...(held === undefined ? {} : { token: held }), protocol: PROTOCOL_VERSION };
}
