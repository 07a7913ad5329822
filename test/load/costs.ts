import { cpuMicrosOf, residentOf } from '../../bench/process-cost.js';
import { figure } from '../../bench/report.js';
import { PostgresMeter, RedisMeter } from '../../bench/subjects/services.js';

interface Processes {
  readonly nodes: readonly number[];
  readonly loads: readonly number[];
}

interface Reading {
  readonly atMs: number;
  readonly nodes: readonly number[];
  readonly loads: readonly number[];
  readonly redis: number;
  readonly postgres: number;
}

export interface Cost {
  readonly seconds: number;
  /** As the table has them: cores that were used, and what the nodes hold. */
  readonly rows: readonly (readonly [what: string, figure: string])[];
}

/** What the load costs each process. The services are the machine's: what others do with them meanwhile counts too. */
export class Costs {
  #before: Reading | null = null;

  private constructor(
    private readonly processes: Processes,
    private readonly redis: RedisMeter,
    private readonly postgres: PostgresMeter,
  ) {}

  static async open(env: Readonly<Record<string, string>>, processes: Processes): Promise<Costs> {
    const redis = await RedisMeter.open(env['REDIS_URL'] ?? '');
    return new Costs(processes, redis, await PostgresMeter.open(env['DATABASE_URL'] ?? ''));
  }

  async close(): Promise<void> {
    this.redis.close();
    await this.postgres.close();
  }

  async begin(): Promise<void> {
    this.#before = await this.#read();
  }

  async end(): Promise<Cost> {
    const after = await this.#read();
    const before = this.#before ?? after;
    const ms = after.atMs - before.atMs;
    const cores = (of: (reading: Reading) => number): string => figure((of(after) - of(before)) / 1000 / ms);
    const each = (of: (reading: Reading) => readonly number[]): string =>
      of(after)
        .map((_, i) => cores((reading) => of(reading)[i] ?? Number.NaN))
        .join(', ');
    const resident = this.processes.nodes.map(residentOf);
    const MiB = 2 ** 20;
    return {
      seconds: ms / 1000,
      rows: [
        ['cores used: nodes', each((reading) => reading.nodes)],
        ['cores used: Redis, PostgreSQL', `${cores(({ redis }) => redis)}, ${cores(({ postgres }) => postgres)}`],
        ['cores used: load', each((reading) => reading.loads)],
        ['memory of the nodes at the end, MiB', resident.map(({ now }) => figure(now / MiB)).join(', ')],
        ['… at most', resident.map(({ peak }) => figure(peak / MiB)).join(', ')],
      ],
    };
  }

  async #read(): Promise<Reading> {
    const { nodes, loads } = this.processes;
    const redis = (await this.redis.look()).cpuMicros;
    return {
      atMs: performance.now(),
      nodes: nodes.map(cpuMicrosOf),
      loads: loads.map(cpuMicrosOf),
      redis,
      postgres: this.postgres.cpuMicros(),
    };
  }
}
