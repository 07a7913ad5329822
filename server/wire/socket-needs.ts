import type { Limits } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { ChatDesk } from '../session/desk/chat-desk.js';
import type { AgentDesk } from '../session/desk/agent-desk.js';
import type { ListedAssistant } from '../session/host.js';
import type { Revocations } from '../session/revocations.js';
import type { AddressOf } from './address.js';
import type { Admission } from './admission.js';
import type { ConnectionLimit } from './connection-limit.js';
import type { Dispatch } from './dispatch.js';
import type { OriginPolicy } from './http/origins.js';
import type { NewestCopy } from './newest-copy.js';
import type { RateLimit } from './rate-limit.js';

/** What sockets work with. */
export interface SocketNeeds {
  readonly dispatch: Dispatch;
  readonly desk: ChatDesk;
  readonly agentDesk: AgentDesk;
  readonly admission: Admission;
  readonly revocations: Pick<Revocations, 'covers' | 'mustStand' | 'watch'>;
  readonly addressOf: AddressOf;
  readonly rateLimit: Pick<RateLimit, 'frame'>;
  readonly connectionLimit: ConnectionLimit;
  readonly starts: NewestCopy;
  readonly origins: OriginPolicy;
  readonly assistants: (tenantId: string | null) => ListedAssistant[];
  readonly limits: Limits;
  readonly authGraceMs: number;
  readonly maxOutboxBytes: number;
  readonly maxSubscriptionsPerConnection: number;
  readonly maxHandshakesPerAddress: number;
  readonly allowPolling: boolean;
  /** Whether events go straight to TCP sockets where that is possible (docs/decisions/0002). */
  readonly isDirectFanOut: boolean;
  readonly serverVersion: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}
