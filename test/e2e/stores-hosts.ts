import { clientOf } from '../harness/sdk.js';
import type { TestServer } from '../harness/server.js';
import type { ChatCommands, UserRole } from '../../protocol/index.js';

/** Where the commands of a store may run: each test of a store runs on both. */
export const HOSTS = ['in the process', 'over the network'] as const;
export type Host = (typeof HOSTS)[number];

export interface As {
  readonly userId: string;
  readonly teamId?: string;
  readonly tenantId?: string;
  readonly roles?: UserRole[];
}

/** The commands of a person on a server. */
export const commandsOn = (host: Host, server: TestServer, as: As = { userId: 'ann' }): ChatCommands =>
  host === 'in the process' ? server.as(as) : clientOf(server.url, { auth: as });
