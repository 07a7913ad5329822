import { nodesBehind } from './balancer.js';

/** The sum over the nodes of a server. */
async function read(url: string, series: string): Promise<number | undefined> {
  const values = await Promise.all(nodesBehind(url).map((node) => readAt(node, series)));
  return values.reduce((sum, value) => (value === undefined ? sum : (sum ?? 0) + value), undefined);
}

async function readAt(url: string, series: string): Promise<number | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** The value of a series in /metrics; 0 where it was never counted. */
export const metric = async (url: string, series: string): Promise<number> => (await read(url, series)) ?? 0;

/** The value of one of the server's gauges, named without its prefix. @throws {Error} where there is none of that name */
export async function gauge(url: string, name: string): Promise<number> {
  const value = await read(url, `turnstream_${name}`);
  if (value === undefined || Number.isNaN(value)) throw new Error(`there is no gauge ${name}`);
  return value;
}

/** LIF-3: what is kept for turns, logs and those who follow them. */
const HELD = [
  'turns_active',
  'subscriptions',
  'buffer_bytes',
  'log_bytes',
  'outbox_bytes',
  'unsaved_bytes',
  'sessions',
];
export const CONNECTIONS = ['connections{namespace="people"}', 'connections{namespace="agents"}'];

/** Those of the gauges of what is kept, and of `more`, that are not at nothing, as `name=value`. */
export async function heldBy(url: string, more: readonly string[] = []): Promise<string[]> {
  const values = await Promise.all([...HELD, ...more].map(async (name) => [name, await gauge(url, name)] as const));
  return values.flatMap(([name, value]) => (value === 0 ? [] : [`${name}=${value}`]));
}
