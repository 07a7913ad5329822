import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What the server counts, in Prometheus' terms. Names are part of what operators build on: they do not change. */
export interface Metrics {
  /** What is measured of the server. */
  readonly registry: Registry;
  /** That, and what is measured of its process, in Prometheus' text format. */
  scrape(): Promise<string>;
  /** Calls back before each scrape, to set what is cheaper to measure than to keep. */
  beforeScrape(measure: () => void): void;
  readonly storeTransactions: Counter<'kind'>;
  readonly turnsActive: Gauge;
  readonly turnsTotal: Counter<'status'>;
  readonly connections: Gauge<'namespace'>;
  readonly subscriptions: Gauge;
  readonly events: Counter;
  readonly deliveries: Counter;
  readonly bufferBytes: Gauge;
  readonly logBytes: Gauge;
  readonly outboxBytes: Gauge;
  readonly unsavedBytes: Gauge;
  readonly sessions: Gauge;
  readonly commitSeconds: Histogram;
  readonly subscribes: Counter<'mode'>;
  readonly commands: Counter<'command' | 'outcome'>;
}

/** What is measured of the process, once for all servers in it: who watches it is never let go of. */
let ofProcess: Registry | null = null;

function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess, prefix: 'turnstream_' });
  }
  return ofProcess;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const all = [processRegistry(), registry];
  const measures: (() => void)[] = [];
  const gauge = (name: string, help: string) => new Gauge({ name: `turnstream_${name}`, help, registers });
  const counter = (name: string, help: string) => new Counter({ name: `turnstream_${name}`, help, registers });
  return {
    registry,
    scrape: () => Registry.merge(all).metrics(),
    beforeScrape: (measure) => void measures.push(measure),
    storeTransactions: new Counter({
      name: 'turnstream_store_transactions_total',
      help: 'Transactions of the store; a statement on its own counts as one.',
      labelNames: ['kind'],
      registers,
    }),
    turnsActive: new Gauge({
      name: 'turnstream_turns_active',
      help: 'Attempts that run at present.',
      registers,
      collect: () => measures.forEach((measure) => measure()),
    }),
    turnsTotal: new Counter({
      name: 'turnstream_turns_total',
      help: 'Attempts that ended, by status.',
      labelNames: ['status'],
      registers,
    }),
    connections: new Gauge({
      name: 'turnstream_connections',
      help: 'Open connections, by namespace.',
      labelNames: ['namespace'],
      registers,
    }),
    subscriptions: gauge('subscriptions', 'Followed chats, counted once per connection.'),
    events: counter('events_total', 'Events that were given a place in a live log.'),
    deliveries: counter('deliveries_total', 'Events handed to subscribers, counted once per subscriber.'),
    bufferBytes: gauge('buffer_bytes', 'Bytes that messages and steps of running attempts hold.'),
    logBytes: gauge('log_bytes', 'Bytes that live logs hold.'),
    outboxBytes: gauge('outbox_bytes', 'Bytes that wait for connections that do not keep up.'),
    unsavedBytes: gauge('unsaved_bytes', 'Bytes of ended attempts that could not be stored yet.'),
    sessions: gauge('sessions', 'Chats held in memory.'),
    commitSeconds: new Histogram({
      name: 'turnstream_commit_seconds',
      help: 'From the end of an attempt until it is stored.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    subscribes: new Counter({
      name: 'turnstream_subscribe_total',
      help: 'Subscriptions, by what they were answered with.',
      labelNames: ['mode'],
      registers,
    }),
    commands: new Counter({
      name: 'turnstream_commands_total',
      help: 'Commands, by outcome.',
      labelNames: ['command', 'outcome'],
      registers,
    }),
  };
}
