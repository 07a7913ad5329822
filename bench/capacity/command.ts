import { parseArgs } from 'node:util';
import * as z from 'zod';
import { format, figure, type Table } from '../report.js';
import { capacityOf, limitsOf, type Capacity } from './capacity.js';
import { costs, COSTS } from './costs.js';
import { workloadOf, workloadSchema, type Workload } from './workload.js';

const USAGE = 'npx tsx bench/main.ts capacity [--connections 1000000] [--costs] …';

/** Prints what a workload needs. @throws {Error} in one line that says what of the arguments is wrong */
export function printCapacity(args: readonly string[]): void {
  const names = Object.keys(workloadSchema.shape);
  const options: Record<string, { type: 'string' | 'boolean' }> = {
    ...Object.fromEntries(names.map((name) => [dashed(name), { type: 'string' }])),
    ...{ costs: { type: 'boolean' }, help: { type: 'boolean' } },
  };
  const { values } = parseArgs({ args: [...args], options });
  if (values['help'] === true) return print([questions()]);
  if (values['costs'] === true) return print([costTable()]);
  const given = Object.fromEntries(
    names.flatMap((name) => (values[dashed(name)] === undefined ? [] : [[name, values[dashed(name)]]])),
  );
  const workload = parsed(given);
  const capacity = capacityOf(workload, costs);
  print([ratesTable(workload, capacity), needsTable(workload, capacity), usesTable(workload, capacity)]);
}

function parsed(given: Readonly<Record<string, unknown>>): Workload {
  try {
    return workloadOf(given);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new Error(`capacity: --${dashed(String(issue?.path[0]))}: ${issue?.message}`, { cause: error });
  }
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const print = (tables: readonly Table[]): void => console.log(tables.map(format).join('\n\n'));

function questions(): Table {
  const defaults: Readonly<Record<string, unknown>> = workloadOf();
  const rows = Object.entries(workloadSchema.shape).map(([name, field]) => {
    return [`--${dashed(name)}`, String(defaults[name]), field.description ?? ''];
  });
  return { title: USAGE, columns: ['option', 'default', 'meaning'], rows };
}

function costTable(): Table {
  return {
    title: 'Unit costs',
    columns: ['cost', 'value', 'source', 'from'],
    rows: Object.entries(COSTS).map(([name, { value, source, from }]) => [name, figure(value), source, from]),
  };
}

function ratesTable({ connections }: Workload, { rates }: Capacity): Table {
  const rows: readonly [string, number][] = [
    ['users', rates.users],
    ['turns/s', rates.turns],
    ['turns that run', rates.runningTurns],
    ['events/s', rates.events],
    ['deliveries/s', rates.deliveries],
    ['messages between nodes/s', rates.messages],
    ['entries of inboxes/s', rates.entries],
    ['followings begun/s', rates.subscribes],
    ['chats taken/s', rates.takes],
  ];
  return {
    title: `${connections.toLocaleString('en-US')} connections`,
    columns: ['what happens', ''],
    rows: rows.map(([name, value]) => [name, figure(value)]),
  };
}

function needsTable(workload: Workload, { nodes, nodesFor, demand }: Capacity): Table {
  const rows: readonly [string, string][] = [
    [`nodes (cores ${nodesFor.cores}, memory ${nodesFor.memory}, connections ${nodesFor.connections})`, String(nodes)],
    ['cores of all nodes, busy', figure(demand.nodeCores)],
    ['memory of a node', bytes(demand.nodeBytes)],
    ['cores of Redis, busy', figure(demand.redisCores)],
    ['memory of Redis', bytes(demand.redisBytes)],
    [
      'into Redis, out of it, a second',
      `${bytes(demand.redisReceivedBytesPerSecond)}, ${bytes(demand.redisSentBytesPerSecond)}`,
    ],
    ['cores of PostgreSQL, busy', figure(demand.postgresCores)],
    ['write transactions/s, before they are grouped', figure(demand.writesPerSecond)],
    ['connections to PostgreSQL', figure(demand.postgresConnections)],
    ['disk a day', bytes(demand.diskBytesPerDay)],
    [`disk in ${workload.daysKept} days`, bytes(demand.diskBytes)],
    ['days until ids of 32 bits are used up', figure(demand.daysOfIds)],
  ];
  return { title: 'What it needs', columns: ['resource', ''], rows };
}

function usesTable(workload: Workload, { uses }: Capacity): Table {
  const limits = new Map(limitsOf(workload, costs).map(({ resource, connections }) => [resource, connections]));
  return {
    title: `Of what nodes share (${workload.redisShards} Redis, ${workload.postgresCores} cores of PostgreSQL)`,
    columns: ['resource', 'of what should be used', 'used up at connections'],
    rows: uses.map(({ resource, share }) => [
      resource,
      `${figure(100 * share)} %`,
      figure(limits.get(resource) ?? Number.NaN),
    ]),
  };
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

function bytes(value: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${figure(value / 1000 ** power)} ${UNITS[power]}`;
}
