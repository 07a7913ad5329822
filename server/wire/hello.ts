import { PROTOCOL_VERSION, type Hello } from '../../protocol/index.js';
import { userOf, type Identity } from '../session/identity.js';
import type { SocketNeeds } from './socket-needs.js';

/** The first thing that a server says, to people and agents alike (CON-2). */
export const helloTo = (connectionId: string, identity: Identity, needs: SocketNeeds): Hello => ({
  protocol: PROTOCOL_VERSION,
  serverVersion: needs.serverVersion,
  connectionId,
  user: userOf(identity),
  limits: needs.limits,
  assistants: needs.assistants(identity.tenantId),
});
