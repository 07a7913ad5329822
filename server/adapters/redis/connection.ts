import { createClient, type RedisScripts } from 'redis';
import { ChatError } from '../../../protocol/index.js';
import { pause, type Clock } from '../../clock.js';
import type { IdSource } from '../../id-source.js';
import type { Log } from '../../log.js';
import { Silence } from './silence.js';

export interface RedisOptions {
  /** `redis://` or, over TLS, `rediss://`. */
  readonly url: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** What the names of all keys begin with, so that several clusters can share a Redis. */
  readonly prefix?: string;
  /** Milliseconds of silence, while commands wait for their answers, after which Redis is taken to be away. */
  readonly silenceMs?: number;
}

export const DEFAULT_PREFIX = 'turnstream:';
export const DEFAULT_SILENCE_MS = 2000;

/** Milliseconds to the next try, at most: the first comes soon, and later ones twice as late each. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;

/** A connection that breaks sooner was none: Redis is there, and refuses what is asked (no memory, a replica). */
const LASTING_MS = 1000;

const createModel = <S extends RedisScripts>(scripts: S) => createClient({ scripts });

/** A client for each set of scripts that never connects: making one makes a class of hundreds of commands, a copy does not. */
const models = new Map<RedisScripts, unknown>();

function createClientOf<S extends RedisScripts>({ url, silenceMs }: RedisOptions, name: string, scripts: S) {
  const model = (models.get(scripts) ?? createModel(scripts)) as ReturnType<typeof createModel<S>>;
  models.set(scripts, model);
  return model.duplicate({
    url,
    name,
    // Waiting is the caller's policy, and reconnecting is this file's: a client is one connection.
    disableOfflineQueue: true,
    // Shorter than the silence that it is a part of.
    socket: { connectTimeout: (silenceMs ?? DEFAULT_SILENCE_MS) / 2, reconnectStrategy: false },
  });
}

type RedisClient<S extends RedisScripts> = ReturnType<typeof createClientOf<S>>;

/** Gives a command. @throws {ChatError} `storage_unavailable` */
export type Ask<S extends RedisScripts> = <T>(command: (client: RedisClient<S>) => Promise<T>) => Promise<T>;

export interface RedisConnectionOptions<S extends RedisScripts> extends RedisOptions {
  /** What Redis calls the connection (`CLIENT LIST`). */
  readonly name: string;
  readonly scripts: S;
  /** What comes first on each connection; until it is done there is none for others. */
  readonly prepare?: (ask: Ask<S>) => Promise<void>;
  /** There is a connection again. */
  readonly onAgain?: () => void;
}

/**
 * One connection to Redis, made again whenever it breaks, with jitter. No command hangs: one that fails, or waits while Redis
 * is silent, breaks its connection, since nobody knows what has become of those before and after it.
 */
export class RedisConnection<S extends RedisScripts> {
  /** The way over the connection that is up; null while there is none. */
  #ask: Ask<S> | null = null;
  /** Ends the newest connection, whether it is up or being made. */
  #giveUp: (cause: unknown) => void = () => {};
  #upSince = 0;
  /** The next pause, at most. */
  #pauseMs = FIRST_PAUSE_MS;
  readonly #closing = new AbortController();

  constructor(private readonly options: RedisConnectionOptions<S>) {}

  /** @throws {ChatError} `storage_unavailable` where Redis does not answer */
  static async open<S extends RedisScripts>(options: RedisConnectionOptions<S>): Promise<RedisConnection<S>> {
    const connection = new RedisConnection(options);
    await connection.connect();
    return connection;
  }

  get isUp(): boolean {
    return this.#ask !== null;
  }

  readonly ask: Ask<S> = async (command) => {
    if (!this.#ask) throw new ChatError('storage_unavailable');
    return this.#ask(command);
  };

  /** The first connection; from then on it is made again by itself. @throws {ChatError} `storage_unavailable` */
  async connect(): Promise<void> {
    const { clock, name, scripts, silenceMs = DEFAULT_SILENCE_MS } = this.options;
    const client = createClientOf(this.options, name, scripts);
    const broke = (cause: unknown): void => {
      if (client.isOpen) client.destroy();
      if (this.#ask === ask) this.#broke(cause);
    };
    const silence = new Silence(clock, silenceMs, () => broke(new Error(`no answer for ${silenceMs} ms`)));
    const ask: Ask<S> = async (command) => {
      silence.asked();
      try {
        return await command(client);
      } catch (cause) {
        broke(cause);
        throw new ChatError('storage_unavailable', undefined, { cause });
      } finally {
        silence.answered();
      }
    };
    client.on('error', broke);
    this.#giveUp = broke;
    await ask(() => client.connect());
    await this.options.prepare?.(ask);
    if (!client.isReady) throw new ChatError('storage_unavailable');
    this.#upSince = clock.monotonic();
    this.#ask = ask;
  }

  /** Ends it at once; commands under way fail. */
  close(): void {
    this.#closing.abort();
    this.#giveUp(new Error('closed'));
  }

  #broke(cause: unknown): void {
    this.#ask = null;
    const { clock, log, name } = this.options;
    if (this.#closing.signal.aborted) return;
    const hasLasted = clock.monotonic() - this.#upSince >= LASTING_MS;
    // One that is refused again and again is said once.
    const isFirst = hasLasted || this.#pauseMs === FIRST_PAUSE_MS;
    if (hasLasted) this.#pauseMs = FIRST_PAUSE_MS;
    if (isFirst) log.warn({ connection: name, err: cause }, 'the connection to Redis broke');
    void this.#connectAgain(isFirst);
  }

  async #connectAgain(isSaid: boolean): Promise<void> {
    const { clock, ids, log, name } = this.options;
    for (;;) {
      await pause(clock, this.#pauseMs * ids.fraction(), this.#closing.signal);
      this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_PAUSE_MS);
      if (this.#closing.signal.aborted) return;
      try {
        await this.connect();
      } catch {
        // Said once, when it broke.
        continue;
      }
      if (isSaid) log.info({ connection: name }, 'connected to Redis again');
      return this.options.onAgain?.();
    }
  }
}
