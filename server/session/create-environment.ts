import type { Assistant } from '../../assistant/assistant.js';
import { AgentDirectory } from './agent-directory.js';
import { Coalescer } from './coalescer.js';
import type { Environment } from './environment.js';
import { Gate } from './gate.js';
import { Hosts } from './hosts.js';
import { InProcessHost } from './in-process-host.js';
import { Pump, type Safekeeping } from './pump.js';
import { Revisions } from './revisions.js';
import { TurnLedger } from './turn-ledger.js';
import { WriteQueue } from './write-queue.js';

type Given = Pick<Environment, 'clock' | 'ids' | 'log' | 'metrics' | 'settings' | 'store' | 'journal' | 'liveLog'>;

/** What the sessions of a process share, made from its ports. */
export function createEnvironment(
  given: Given & {
    readonly assistants: readonly Assistant[];
    /** Where what is told is kept for other nodes; none on a node of its own. */
    readonly safekeeping?: Safekeeping | undefined;
  },
): {
  env: Environment;
  agents: AgentDirectory;
} {
  const { clock, ids, log, metrics, settings, store, journal, liveLog, assistants } = given;
  const agents = new AgentDirectory(clock, settings.agentGraceMs);
  const pump = new Pump(clock, journal, given.safekeeping ?? null);
  const env: Environment = {
    clock,
    ids,
    log,
    metrics,
    settings,
    store,
    journal,
    liveLog,
    pump,
    writes: new WriteQueue({ store, clock, ids, log }),
    coalescer: new Coalescer(clock, settings.coalesceMs, pump),
    gate: new Gate(journal, settings.maxUnsavedBytes, metrics),
    hosts: new Hosts({
      inProcess: new InProcessHost(assistants, clock, ids, log),
      agents,
      clock,
      agentWaitMs: settings.agentWaitMs,
    }),
    ledger: new TurnLedger(),
    revisions: new Revisions(ids.epoch()),
  };
  return { env, agents };
}
