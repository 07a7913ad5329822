import type { ChatCommands, JsonObject } from '../../protocol/index.js';
import { Turnstile } from '../turnstile.js';
import { WriteQueue } from '../write-queue.js';
import { ChatRows, type MemoryChat } from './chat-rows.js';
import { differenceOf } from './difference.js';
import type { BeeMessage } from './framework.js';
import { newRow, type Messages, type Row } from './row.js';

type Write<M extends BeeMessage> =
  | { readonly kind: 'save'; readonly row: Row<M> }
  | { readonly kind: 'update'; readonly row: Row<M>; readonly message: M }
  | { readonly kind: 'delete'; readonly rows: readonly Row<M>[]; readonly inPlaceOf: readonly Row<M>[] };

/** The write is wrapped, because a promise of a promise would wait for both. */
interface Changed {
  readonly written: Promise<void>;
}

export interface MirrorPorts<M extends BeeMessage> {
  readonly chats: ChatCommands;
  readonly messages: Messages<M>;
  readonly newId: () => string;
  readonly chat: () => Promise<MemoryChat>;
  /** Stands in what is kept of each message that is added. */
  readonly mark: JsonObject;
  /** What of the rows that were read is in the memory. */
  readonly window: (rows: readonly Row<M>[], shown: readonly Row<M>[]) => Window<M> | Promise<Window<M>>;
  /** Comes before the first reading; null where there is nothing to read, because the chat is a new one. */
  readonly first: Promise<unknown> | null;
}

export interface Window<M extends BeeMessage> {
  readonly rows: readonly Row<M>[];
  /** Of the memory too, but outside of what it shows: a reset deletes them. */
  readonly behind: readonly Row<M>[];
}

/**
 * A memory's messages here, for reading without waiting, and the queue that writes each change to the chat, in the order of
 * the calls. A change is planned as a new list of rows and made at once or not at all.
 */
export class Mirror<M extends BeeMessage> {
  #rows: readonly Row<M>[] = [];
  #messages: readonly M[] | null = null;
  /** Counts the resets: what began before one has no effect after it. */
  #epoch = 0;
  #behind: readonly Row<M>[] = [];
  /** A reset has found the rows unread: what is read then is deleted. */
  #isResetUnread = false;
  #reading: Promise<void>;
  #isRead = false;
  /** Why the rows could not be read. */
  #unread: unknown = null;
  readonly #turns = new Turnstile();
  readonly #chatRows: ChatRows<M>;
  readonly #queue: WriteQueue<Write<M>>;

  constructor(private readonly ports: MirrorPorts<M>) {
    this.#chatRows = new ChatRows(ports.chats, ports.messages, ports.chat);
    this.#queue = new WriteQueue<Write<M>>({
      together: (writes) => {
        const other = writes.findIndex(({ kind }) => kind !== 'save');
        return Math.max(1, other === -1 ? writes.length : other);
      },
      write: (writes) => this.#write(writes),
      refused: (write) => this.#refused(write),
    });
    this.#isRead = ports.first === null;
    this.#reading = ports.first === null ? Promise.resolve() : this.#read(ports.first);
  }

  /** A list that never changes: after a change there is another one. */
  get messages(): readonly M[] {
    this.#messages ??= Object.freeze(this.#rows.map(({ message }) => message));
    return this.#messages;
  }

  get rows(): readonly Row<M>[] {
    return this.#rows;
  }

  /** Resolves when the messages have been read. @throws what made that fail; `refresh` tries again */
  ready(): Promise<void> {
    return this.#reading;
  }

  /** Reads the chat again, after what is to be written: others may write to it too. @throws what made that fail */
  refresh(): Promise<void> {
    const reading = this.#read();
    if (!this.#isRead) this.#reading = reading;
    return reading;
  }

  flushed(): Promise<void> {
    return this.#turns.run(() => undefined).then(() => this.#queue.flushed());
  }

  /** @throws {TypeError|RangeError} for a message that cannot be stored */
  newRow(message: M): Row<M> {
    const row = newRow(this.ports.messages, message, this.ports.newId());
    return { ...row, bee: { ...row.bee, ...this.ports.mark } };
  }

  /**
   * Makes the memory hold what `plan` makes of what it holds, when its turn comes; at once where nothing goes on.
   *
   * @returns when the server has it. After a reset in between, at once and with nothing done.
   */
  change(plan: (rows: readonly Row<M>[]) => readonly Row<M>[] | Promise<readonly Row<M>[]>): Promise<void> {
    const epoch = this.#epoch;
    // While a plan was made the server may have refused what it counted on.
    const commit = (next: readonly Row<M>[]): Changed =>
      epoch === this.#epoch ? { written: this.#become(next.filter(({ isRefused }) => !isRefused)) } : UNCHANGED;
    return this.#inTurn(epoch, () => {
      const next = plan(this.#rows);
      return next instanceof Promise ? next.then(commit) : commit(next);
    });
  }

  /** Gives a row, the newest one of this memory, another message. `plan` as in {@link change}; null for no message. */
  rewrite(plan: (row: Row<M> | null) => Promise<M | null>): Promise<void> {
    const epoch = this.#epoch;
    return this.#inTurn(epoch, async () => {
      const row = this.#rows.at(-1) ?? null;
      const message = await plan(row);
      if (epoch !== this.#epoch) return UNCHANGED;
      if (!message) return { written: this.#become([]) };
      if (!row || row.isRefused) return { written: this.#become([this.newRow(message)]) };
      const { bee } = this.newRow(message);
      Object.assign(row, { message, bee });
      this.#show([row]);
      const written = this.#queue.push({ kind: 'update', row, message });
      void this.#delete(this.#takeBehind());
      return { written };
    });
  }

  /** Empties the memory before it returns, and deletes the rows after what is to be written. */
  reset(): void {
    this.#epoch++;
    if (!this.#isRead) this.#isResetUnread = true;
    this.#empty();
  }

  #empty(): void {
    this.#show([...this.#takeBehind(), ...this.#rows]);
    void this.#become([]);
  }

  #inTurn(epoch: number, work: () => Changed | Promise<Changed>): Promise<void> {
    const changed = this.#turns.run(() => {
      if (epoch !== this.#epoch) return UNCHANGED;
      if (!this.#isRead) throw this.#unread;
      return work();
    });
    const written = changed.then((change) => change.written);
    // A write that fails is told of by `flushed` as well; a plan that fails by this promise alone.
    changed.then(
      () => {
        written.catch(() => undefined);
      },
      () => undefined,
    );
    return written;
  }

  #show(rows: readonly Row<M>[]): void {
    this.#rows = rows;
    this.#messages = null;
  }

  #takeBehind(): readonly Row<M>[] {
    const behind = this.#behind;
    this.#behind = [];
    return behind;
  }

  /** Saves first and deletes then: what fails in between has lost nothing. */
  #become(next: readonly Row<M>[]): Promise<void> {
    const { gone, places } = differenceOf(this.#rows, next);
    for (const { added: row, before, after } of places)
      Object.assign(row, { before: this.#lowest(before, after), after });
    const added = places.map((place) => place.added);
    this.#show(next);
    const writes = added.map((row) => this.#queue.push({ kind: 'save', row }));
    const written = Promise.all([...writes, this.#delete(gone, added)]).then(() => undefined);
    written.catch(() => undefined);
    return written;
  }

  /** What is inserted stands right in front of the next one, behind what is between them and not shown. */
  #lowest(previous: Row<M> | null, after: Row<M> | null): Row<M> | null {
    const below = after?.position ?? ABOVE_ALL;
    const hidden = after && this.#behind.findLast(({ position }) => (position ?? '') < below);
    if (!hidden || !previous) return previous ?? hidden ?? null;
    return (previous.position ?? ABOVE_ALL) > (hidden.position ?? '') ? previous : hidden;
  }

  /** @param inPlaceOf where the server has refused one of these, nothing is deleted for it */
  #delete(rows: readonly Row<M>[], inPlaceOf: readonly Row<M>[] = []): Promise<void> {
    return rows.length === 0 ? Promise.resolve() : this.#queue.push({ kind: 'delete', rows, inPlaceOf });
  }

  #write(writes: readonly Write<M>[]): Promise<void> {
    const [first] = writes;
    if (first?.kind === 'update') return this.#chatRows.update(first.row, first.message, this.ports.newId());
    if (first?.kind === 'delete') return this.#deleteRows(first.rows, first.inPlaceOf);
    return this.#chatRows.save(writes.flatMap((write) => (write.kind === 'save' ? [write.row] : [])));
  }

  /** What the server will not add is in the memory no more; what it would not change or delete is read again. */
  #refused(write: Write<M>): void {
    if (write.kind === 'save') {
      write.row.isRefused = true;
      this.#show(this.#rows.filter((row) => row !== write.row));
      return;
    }
    // What the row says is not what the chat says.
    if (write.kind === 'update') write.row.stored = null;
    void this.refresh();
  }

  async #deleteRows(rows: readonly Row<M>[], inPlaceOf: readonly Row<M>[]): Promise<void> {
    if (inPlaceOf.some(({ isRefused }) => isRefused)) void this.refresh();
    else await this.#chatRows.delete(rows);
  }

  #read(first?: Promise<unknown>): Promise<void> {
    const reading = this.#turns.run(async () => {
      const epoch = this.#epoch;
      try {
        await first;
        await this.#queue.drained();
        const read = await this.#chatRows.read([...this.#behind, ...this.#rows]);
        const { rows, behind } = await this.ports.window(read, this.#rows);
        this.#isRead = true;
        this.#behind = behind;
        this.#show(rows);
      } catch (error) {
        this.#unread = error;
        throw error;
      }
      const isReset = epoch !== this.#epoch || this.#isResetUnread;
      this.#isResetUnread = false;
      if (isReset) this.#empty();
    });
    reading.catch(() => undefined);
    return reading;
  }
}

/** Above every position: of what is not stored yet. */
const ABOVE_ALL = '~';

const UNCHANGED: Changed = { written: Promise.resolve() };
