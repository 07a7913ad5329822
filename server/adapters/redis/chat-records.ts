import { ErrorReply } from 'redis';
import { ChatError } from '../../../protocol/index.js';
import { FencedOut } from '../../ports/fence.js';
import type { AttemptKey } from '../../ports/journal.js';
import type { ChatRecord, ChatRecords, CommitOutcome, OpenedRecord, RecordEntry } from '../../ports/chat-records.js';
import { DEFAULT_PREFIX, RedisConnection, type RedisOptions } from './connection.js';
import { isForeign } from './foreign.js';

export interface ChatRecordsOptions extends RedisOptions {
  /** Bounds of a chat's log, as those of the log in memory. */
  readonly maxEvents: number;
  /** Bytes, counted as UTF-16 units of the events' JSON. */
  readonly maxBytes: number;
  /** Milliseconds that a record is kept after its last entry, once no attempt needs it. */
  readonly ttlMs: number;
}

type Connection = RedisConnection<Record<never, never>>;

/**
 * Records as streams of Redis, one for each chat. What one commit adds to a chat is one entry, whose id is `<fence>-<number>`:
 * Redis itself refuses the entries of an owner whose fence is lower than one that has written since.
 */
export async function createRedisChatRecords(options: ChatRecordsOptions): Promise<ChatRecords> {
  const connection: Connection = await RedisConnection.open({ ...options, name: 'turnstream-records', scripts: {} });
  return new RedisChatRecords(connection, options);
}

class RedisChatRecords implements ChatRecords {
  /** Records with something that is not written, in the order in which they were first added to. */
  readonly #added = new Set<StreamRecord>();

  constructor(
    private readonly connection: Connection,
    private readonly options: ChatRecordsOptions,
  ) {}

  async open(chatId: string, fence: number): Promise<OpenedRecord> {
    const key = `${this.options.prefix ?? DEFAULT_PREFIX}record:${chatId}`;
    const record = new StreamRecord(key, chatId, fence, this.options, this.#added);
    const opened = () =>
      this.connection.ask((client) =>
        Promise.all([
          outcomeOf(client.sendCommand<string>(record.opening())),
          outcomeOf(client.sendCommand<[id: string, fields: string[]][]>(['XRANGE', key, '-', '+'])),
        ]),
      );
    let [written, entries] = await opened();
    if (isForeign(written)) {
      await this.connection.ask((client) => client.del(key));
      [written, entries] = await opened();
    }
    if (written instanceof Error) throw isOutlived(written) ? new FencedOut(chatId) : unavailable(written);
    if (entries instanceof Error) throw unavailable(entries);
    const left = entriesLeft(entries.flatMap(([, fields]) => fields));
    // The last entry is this opening.
    const isSealed = entries.at(-2)?.[1].at(-2) === SEALED;
    record.adopt(left, isSealed);
    return { record, left, isSealed };
  }

  async seal(record: ChatRecord): Promise<void> {
    if (!(record instanceof StreamRecord)) return;
    record.close();
    this.#added.delete(record);
    if (!record.mayBeSealed) return;
    await this.connection.ask((client) =>
      Promise.all(record.sealing().map((command) => outcomeOf(client.sendCommand(command)))),
    );
  }

  async commit(): Promise<CommitOutcome> {
    const records = [...this.#added];
    this.#added.clear();
    if (records.length === 0) return { lost: [], gone: [] };
    const commands = records.map((record) => record.taken());
    const answers = await this.connection
      .ask((client) =>
        Promise.all(
          commands.map(([add, life]) => {
            const written = outcomeOf(client.sendCommand<string | null>(add));
            // What breaks the connection is told by the entry.
            outcomeOf(client.sendCommand(life)).catch(() => undefined);
            return written;
          }),
        ),
      )
      .then((given) => this.#withoutForeign(records, given))
      .catch((error: unknown) => {
        for (const record of records) record.isWhole = false;
        throw error;
      });
    for (const [index, record] of records.entries()) record.written(answers[index] ?? null);
    // Not before it is known that they are this owner's: what stands may be what a later one needs.
    const trims = records.flatMap((record, index) => (typeof answers[index] === 'string' ? record.trimmed() : []));
    if (trims.length > 0)
      void this.connection
        .ask((client) => Promise.all(trims.map((trim) => outcomeOf(client.sendCommand(trim)))))
        .catch(() => undefined);
    const failure = answers.find((answer) => answer instanceof Error && !isOutlived(answer));
    if (failure) throw unavailable(failure);
    return {
      lost: records.filter(({ isOutlived }) => isOutlived).map(({ chatId, fence }) => ({ chatId, fence })),
      gone: records.filter((_, index) => answers[index] === null).map(({ chatId }) => chatId),
    };
  }

  /** Where something else stands under the name of a record, that goes, and the record is gone: null, as where nothing stands. */
  async #withoutForeign<A>(records: readonly StreamRecord[], answers: readonly A[]): Promise<readonly (A | null)[]> {
    const keys = records.filter((_, index) => isForeign(answers[index])).map(({ key }) => key);
    if (keys.length === 0) return answers;
    await this.connection.ask((client) => client.del(keys));
    return answers.map((answer) => (isForeign(answer) ? null : answer));
  }

  discard(): void {
    for (const record of this.#added) record.discard();
    this.#added.clear();
  }

  close(): void {
    this.connection.close();
  }
}

/** What one commit has added: how much of the log, and which attempts need it. */
interface Batch {
  readonly number: number;
  readonly events: number;
  readonly bytes: number;
}

/** Batches that nobody needs which are not worth a command. */
const SLACK = 32;

type Command = [string, ...string[]];

const SEALED = 'sealed';
/** What stands before it was given up, whether it was dropped yet or not. */
const RESTARTED = 'restarted';

class StreamRecord implements ChatRecord {
  isOutlived = false;
  /** Whether all that was added is in the stream, or will be with the next commit. */
  isWhole = true;
  /** Whether its newest event is of an owner that has not left the chat whole: its log ends before what that one has stored. */
  #endsTooSoon = false;
  #fields: string[] = [];
  #events = 0;
  #bytes = 0;
  #number = 0;
  /** Of the batches that are kept. */
  #kept = { events: 0, bytes: 0 };
  #batches: Batch[] = [];
  /** The batch in which each attempt that is not forgotten begins. */
  readonly #attempts = new Map<AttemptKey, number>();
  #isClosed = false;
  /** Whether the next entry may be the first, and whatever stands before it is dropped. */
  #isNew = false;

  constructor(
    readonly key: string,
    readonly chatId: string,
    readonly fence: number,
    private readonly bounds: { readonly maxEvents: number; readonly maxBytes: number; readonly ttlMs: number },
    private readonly added: Set<StreamRecord>,
  ) {}

  /** Attempts that an earlier owner has left are this one's to forget. */
  adopt(left: readonly RecordEntry[], isSealed: boolean): void {
    for (const { attempt } of left) if (attempt !== null) this.#attempts.set(attempt, 0);
    this.#endsTooSoon = !isSealed && left.some(({ kind }) => kind === 'event');
  }

  get mayBeSealed(): boolean {
    return this.isWhole && !this.#endsTooSoon;
  }

  /** What has become of what a commit has sent: an id where it stands; null where there is no such stream. */
  written(answer: string | null | Error): void {
    this.isWhole &&= typeof answer === 'string';
    this.isOutlived ||= isOutlived(answer);
  }

  add({ kind, attempt, json }: RecordEntry): void {
    if (attempt !== null && !this.#attempts.has(attempt)) this.#attempts.set(attempt, this.#number + 1);
    if (kind === 'event') {
      this.#endsTooSoon = false;
      this.#events++;
      this.#bytes += json.length;
    }
    this.#put(`${kind} ${attempt ?? ''}`, json);
  }

  forget(attempt: AttemptKey): void {
    if (this.#attempts.delete(attempt)) this.#put(`forget ${attempt}`, '');
  }

  /** What waits for the next commit is not added after all. */
  discard(): void {
    this.isWhole &&= this.#fields.length === 0;
    this.#fields = [];
    this.#events = this.#bytes = 0;
  }

  restart(left: readonly RecordEntry[] = []): void {
    const endsTooSoon = this.#endsTooSoon && left.length > 0;
    this.discard();
    this.#kept = { events: 0, bytes: 0 };
    this.#batches = [];
    this.#attempts.clear();
    this.#isNew = true;
    this.isWhole = true;
    this.#put(RESTARTED, '');
    for (const entry of left) this.add(entry);
    this.#endsTooSoon = endsTooSoon;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** The entry that keeps earlier owners from adding. */
  opening(): Command {
    return ['XADD', this.key, this.#nextId(), 'open', ''];
  }

  /** The last entry: with what waits for the next commit. */
  sealing(): Command[] {
    this.#fields.push(SEALED, '');
    return this.taken();
  }

  /** What a commit sends: the entry, and how long the record lives. */
  taken(): [Command, Command] {
    const add: Command = ['XADD', this.key, ...(this.#isNew ? [] : ['NOMKSTREAM']), this.#nextId(), ...this.#fields];
    this.#batches.push({ number: this.#number, events: this.#events, bytes: this.#bytes });
    this.#kept.events += this.#events;
    this.#kept.bytes += this.#bytes;
    this.#fields = [];
    this.#events = this.#bytes = 0;
    // A record that an attempt needs outlives any silence.
    const life: Command =
      this.#attempts.size > 0 ? ['PERSIST', this.key] : ['PEXPIRE', this.key, String(this.bounds.ttlMs)];
    return [add, life];
  }

  #put(name: string, value: string): void {
    if (this.#isClosed) return;
    this.#fields.push(name, value);
    this.added.add(this);
  }

  #nextId(): string {
    return `${this.fence}-${++this.#number}`;
  }

  /** Drops the oldest batches that neither the log nor an attempt needs; what a restart has given up is dropped at once. */
  trimmed(): Command[] {
    const slack = this.#isNew ? 0 : SLACK;
    this.#isNew = false;
    const firstOfAttempts = Math.min(...this.#attempts.values());
    let { events, bytes } = this.#kept;
    let count = 0;
    for (const batch of this.#batches) {
      const isBeyond = events > this.bounds.maxEvents || bytes > this.bounds.maxBytes;
      if (!isBeyond || batch.number >= firstOfAttempts) break;
      events -= batch.events;
      bytes -= batch.bytes;
      count++;
    }
    if (count < slack) return [];
    this.#batches = this.#batches.slice(count);
    this.#kept = { events, bytes };
    return [['XTRIM', this.key, 'MINID', `${this.fence}-${this.#batches[0]?.number ?? this.#number}`]];
  }
}

/** In a stream's fields each name is followed by its value: `event <attempt>`, `note <attempt>`, `forget <attempt>`. */
function entriesLeft(fields: readonly string[]): RecordEntry[] {
  const named = fields.flatMap((field, index) => {
    const [kind = '', attempt = ''] = field.split(' ');
    return index % 2 === 0 ? [{ kind, attempt, json: fields[index + 1] ?? '' }] : [];
  });
  const standing = named.slice(named.findLastIndex(({ kind }) => kind === RESTARTED) + 1);
  const forgotten = new Set(standing.filter(({ kind }) => kind === 'forget').map(({ attempt }) => attempt));
  return standing.flatMap(({ kind, attempt, json }): RecordEntry[] => {
    const isNeeded = attempt !== '' && !forgotten.has(attempt);
    if (kind === 'event') return [{ kind, attempt: isNeeded ? attempt : null, json }];
    return kind === 'note' && isNeeded ? [{ kind, attempt, json }] : [];
  });
}

/** A refusal by Redis is an answer like any other; only what breaks the connection is thrown. */
const outcomeOf = <T>(answer: Promise<T>): Promise<T | Error> =>
  answer.catch((error: unknown) => {
    if (error instanceof ErrorReply) return error;
    throw error;
  });

/** The stream holds a later id: another owner has opened it since. */
const isOutlived = (answer: unknown): boolean =>
  answer instanceof Error && answer.message.includes('equal or smaller than the target stream top item');

const unavailable = (cause: unknown): ChatError => new ChatError('storage_unavailable', undefined, { cause });
