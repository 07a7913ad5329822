import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** Servers under test get a core of their own, the load another, where the system lets us say so. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const canPin = cpus().length > 1 && succeeds('taskset', '--version');

function succeeds(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The command line that runs a program on one core. */
export const pinned = (core: number, command: readonly string[]): string[] =>
  canPin ? ['taskset', '-c', String(core), ...command] : [...command];

/** Keeps this process on the core of the load. */
export function pinLoad(): void {
  if (canPin) succeeds('taskset', '-a', '-cp', String(LOAD_CORE), String(process.pid));
}

/** One line that says what the figures were measured on. @param placing of the processes on its cores */
export function machineLine(placing = canPin ? 'server on core 0, load on core 1' : 'not pinned'): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} x ${model}, ${memory} GiB, ${process.platform}, Node ${process.versions.node}; ${placing}`;
}

const TICKS_PER_SECOND = 100;

/** Seconds that all cores were busy since the machine started; null where the system does not tell. */
function busySeconds(): number | null {
  try {
    const fields =
      readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
    const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = fields;
    return (user + nice + system + irq + softIrq + steal) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

/** Measures how many cores other programs kept busy; a virtual machine's stolen time counts as theirs. */
export class Neighbours {
  readonly #began = performance.now();
  readonly #busy = busySeconds();
  readonly #own = process.cpuUsage();

  /** @param subjectsMicros what the subjects used meanwhile. @returns cores; NaN where the system does not tell */
  cores(subjectsMicros: number): number {
    const busy = busySeconds();
    if (busy === null || this.#busy === null) return Number.NaN;
    const own = process.cpuUsage(this.#own);
    const seconds = (performance.now() - this.#began) / 1000;
    return Math.max(0, (busy - this.#busy - (own.user + own.system + subjectsMicros) / 1e6) / seconds);
  }
}

/** Waits until others use little of the machine, at most `ms`: a noisy moment is better sat out than measured. */
export async function settle(ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const others = new Neighbours();
    await pause(150);
    const cores = others.cores(0);
    if (!(cores > 0.2)) return;
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
