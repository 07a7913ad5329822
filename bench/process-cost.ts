import { readdirSync, readFileSync } from 'node:fs';

/** What processes of this machine cost, whoever started them. Where the system does not tell, figures are NaN. */

const MICROS_PER_TICK = 10_000;

interface Stat {
  readonly name: string;
  readonly parent: number;
  /** Of its own threads, kernel included. */
  readonly cpuMicros: number;
  /** Of its children that have ended. */
  readonly endedMicros: number;
}

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold anything: fields are counted from its end.
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    const ticks = (first: number): number => MICROS_PER_TICK * (Number(fields[first]) + Number(fields[first + 1]));
    const name = text.slice(text.indexOf('(') + 1, end);
    return { name, parent: Number(fields[1]), cpuMicros: ticks(11), endedMicros: ticks(13) };
  } catch {
    return null;
  }
}

/** Microseconds of processor time so far, in steps of ten milliseconds. */
export const cpuMicrosOf = (pid: number): number => statOf(pid)?.cpuMicros ?? Number.NaN;

/** As {@link cpuMicrosOf}, with that of all that it has started, the ended included. */
export function cpuMicrosOfTree(root: number): number {
  const own = statOf(root);
  if (!own) return Number.NaN;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === root);
  return children.reduce((sum, pid) => sum + (cpuMicrosOfTree(pid) || 0), own.cpuMicros + own.endedMicros);
}

/** The process that has started this one, where it is called so. */
export function parentCalled(name: string, pid: number): number | null {
  const parent = statOf(pid)?.parent;
  return parent !== undefined && statOf(parent)?.name === name ? parent : null;
}

/** Bytes that are resident now, and were at most. */
export function residentOf(pid: number): { readonly now: number; readonly peak: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (field: string): number => 1024 * Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
  } catch {
    return { now: Number.NaN, peak: Number.NaN };
  }
}
