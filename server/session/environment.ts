import type { Clock } from '../clock.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { Journal } from '../ports/journal.js';
import type { LiveLog } from '../ports/live-log.js';
import type { Store } from '../ports/store.js';
import type { Coalescer } from './coalescer.js';
import type { Gate } from './gate.js';
import type { Hosts } from './hosts.js';
import type { Pump } from './pump.js';
import type { Revisions } from './revisions.js';
import type { SessionSettings } from './settings.js';
import type { TurnLedger } from './turn-ledger.js';
import type { WriteQueue } from './write-queue.js';

/** What every chat session works with: the ports, and what the sessions of a process share. */
export interface Environment {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly settings: SessionSettings;
  readonly store: Store;
  readonly journal: Journal;
  readonly liveLog: LiveLog;
  readonly writes: WriteQueue;
  readonly pump: Pump;
  readonly coalescer: Coalescer;
  readonly gate: Gate;
  readonly hosts: Hosts;
  readonly ledger: TurnLedger;
  readonly revisions: Revisions;
}
