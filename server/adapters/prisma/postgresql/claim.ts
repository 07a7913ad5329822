import pg from 'pg';
import { ChatError } from '../../../../protocol/index.js';
import { type Clock, pause } from '../../../clock.js';

/** The advisory lock of a server that has the database for itself: any number, the same in all versions. */
const CLAIM_LOCK = 7_401_902_531;
/** Milliseconds between two tries to have it again after the connection broke. */
const RETRY_MS = 500;

/** `alone`: no other server may use the database; `among nodes`: none but those that share it by way of Redis. */
export type ClaimKind = 'alone' | 'among nodes';

/**
 * A database for one server alone, as a data directory is: without Redis two servers would both number a chat's messages. Nodes
 * that share it hold it together. The lock lives with a connection. When that breaks (the database restarts) nothing is
 * written until it is had again.
 */
export class DatabaseClaim {
  #client: pg.Client | null = null;
  #isReleased = false;

  private constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly kind: ClaimKind,
  ) {}

  /** @throws {ChatError} `conflict` where another server has it; what the driver throws where the database does not answer */
  static async take(url: string, clock: Clock, kind: ClaimKind): Promise<DatabaseClaim> {
    const claim = new DatabaseClaim(url, clock, kind);
    if (!(await claim.#take())) throw new ChatError('conflict', TAKEN);
    return claim;
  }

  get isHeld(): boolean {
    return this.#client !== null;
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #take(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: 'turnstream claim',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    // What breaks it is told by its end.
    client.on('error', () => {});
    await client.connect();
    const lock = this.kind === 'alone' ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
    const { rows } = await client.query<{ taken: boolean }>(`SELECT ${lock}($1) AS taken`, [CLAIM_LOCK]);
    const isTaken = rows[0]?.taken === true;
    // Released while it was asked for again: then nobody else would give it up.
    if (!isTaken || this.#isReleased) {
      await client.end();
      return isTaken;
    }
    client.once('end', () => void this.#takeAgain());
    this.#client = client;
    return true;
  }

  async #takeAgain(): Promise<void> {
    this.#client = null;
    while (!this.#isReleased) {
      if (await this.#take().catch(() => false)) return;
      await pause(this.clock, RETRY_MS);
    }
  }
}

const TAKEN = 'another server uses it; with the same REDIS_URL several share it';
