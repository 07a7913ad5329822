import pg from 'pg';
import { createClient } from 'redis';
import { cpuMicrosOfTree, parentCalled } from '../process-cost.js';

/** What a Redis server says of itself. */
export class RedisMeter {
  private constructor(private readonly client: ReturnType<typeof createClient>) {}

  static async open(url: string): Promise<RedisMeter> {
    const client = createClient({ url });
    client.on('error', () => undefined);
    await client.connect();
    return new RedisMeter(client);
  }

  /** Looking is itself two reads, one command and some tens of microseconds. */
  async look(): Promise<RedisReading> {
    const said = await this.client.sendCommand<string>(['INFO', 'everything']);
    const number = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(said)?.[1]);
    const calls = new Map<string, number>();
    for (const [, name = '', count] of said.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)) calls.set(name, Number(count));
    return {
      cpuMicros: 1e6 * (number('used_cpu_user') + number('used_cpu_sys')),
      bytesIn: number('total_net_input_bytes'),
      bytesOut: number('total_net_output_bytes'),
      memoryBytes: number('used_memory'),
      /** What came in one read is what was sent in one go: commands that wait for no answer in between. */
      reads: number('total_reads_processed'),
      calls,
    };
  }

  /** How many keys hold the word in their name, and how many of them never expire. */
  async keys(word: string): Promise<{ readonly count: number; readonly forEver: number }> {
    const names = await this.#named(word);
    const lives = await Promise.all(names.map((name) => this.client.pTTL(name)));
    return { count: names.length, forEver: lives.filter((ms) => ms === -1).length };
  }

  /** Entries that were ever added to the streams that are still there and whose name holds the word. */
  async entries(word: string): Promise<number> {
    const names = await this.#named(word);
    const added = await Promise.all(names.map(async (name) => (await this.client.xInfoStream(name))['entries-added']));
    return added.reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    this.client.destroy();
  }

  #named(word: string): Promise<string[]> {
    return this.client.keys(`*${word}*`);
  }
}

export interface RedisReading {
  readonly cpuMicros: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly memoryBytes: number;
  readonly reads: number;
  readonly calls: ReadonlyMap<string, number>;
}

/** A PostgreSQL server of this machine, with all of its processes. */
export class PostgresMeter {
  private constructor(
    private readonly client: pg.Client,
    private readonly server: number | null,
  ) {}

  static async open(url: string): Promise<PostgresMeter> {
    const client = new pg.Client({ connectionString: url, application_name: 'bench' });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return new PostgresMeter(client, parentCalled('postgres', rows[0]?.pid ?? 0));
  }

  /** Microseconds; NaN where its processes cannot be seen, as those of a container. */
  cpuMicros(): number {
    return this.server === null ? Number.NaN : cpuMicrosOfTree(this.server);
  }

  /** Bytes that its log of changes has grown to. */
  async logBytes(): Promise<number> {
    const { rows } = await this.client.query<{ bytes: string }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes",
    );
    return Number(rows[0]?.bytes);
  }

  /** Bytes and rows of a table of the database that it was opened with. */
  async sizeOf(table: string): Promise<{ rows: number; bytes: number; indexBytes: number }> {
    const { rows } = await this.client.query<{ rows: string; bytes: string; indexes: string }>(
      `SELECT (SELECT count(*) FROM ${table}) AS rows, pg_table_size('${table}') AS bytes, pg_indexes_size('${table}') AS indexes`,
    );
    return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes), indexBytes: Number(rows[0]?.indexes) };
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
