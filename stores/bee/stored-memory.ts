import type { ChatCommands, JsonObject } from '../../protocol/index.js';
import type { BeeFramework, BeeMessage } from './framework.js';
import { Mirror, type Window } from './mirror.js';
import {
  chatOf,
  mustNameChat,
  placeOf,
  snapshot,
  type MemoryKind,
  type MemoryOptions,
  type MemorySnapshot,
} from './options.js';
import type { Row } from './row.js';
import type { Rows } from './rule.js';
import { plainText } from './snapshot-text.js';

/** What the memories of one framework share. */
export interface MemoryPorts<M extends BeeMessage, B extends object, L> {
  readonly framework: BeeFramework<M, B, L>;
  readonly chats: ChatCommands;
  readonly newId: () => string;
}

/** What makes a memory the kind that it is, made anew whenever a snapshot is loaded. */
export interface Part<M extends BeeMessage> {
  window(rows: Rows<M>, shown: Rows<M>): Window<M> | Promise<Window<M>>;
}

/**
 * The class that all memories of one framework extend: its own BaseMemory, over a mirror of the chat.
 *
 * The framework makes instances without a constructor (`fromSnapshot`, `fromSerialized`), so nothing here is a private field;
 * and none is protected, because an inferred class type cannot say so. What users see is the type of `BeeMemories`.
 */
export function storedMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  const { framework, chats, newId } = ports;
  // What a framework's class does beside (`addMany`, iterating, `asReadOnly`) is its own; its type is given back at the end.
  const Base = framework.BaseMemory as abstract new () => object;
  const { MemoryFatalError } = framework;

  abstract class StoredMemory<O extends MemoryOptions, P extends Part<M>> extends Base {
    declare options: O | undefined;
    declare part: P;
    declare mirror: Mirror<M>;

    abstract get kind(): MemoryKind;
    /** @throws {TypeError} for options that no such memory can have */
    abstract partOf(options: O): P;
    /** The numbers among the options. */
    abstract settingsOf(options: O): Record<string, number>;
    /** The names of the options that no snapshot can hold, and that were given. */
    abstract needsOf(options: O): string[];
    /** The options of a snapshot with what it could not hold. */
    abstract withNeeds(options: MemoryOptions & Record<string, unknown>, given: O | undefined): O;

    /** A memory whose messages have been read. @throws {ChatError} */
    static async open<Options, Memory extends { ready(): Promise<void> }>(
      this: new (options: Options) => Memory,
      options: Options,
    ): Promise<Memory> {
      const memory = new this(options);
      await memory.ready();
      return memory;
    }

    constructor(options: O) {
      super();
      this.begin(options, Promise.resolve());
    }

    /** The messages as they are now, in a list that does not change with the memory. Empty until they are read. */
    get messages(): readonly M[] {
      return this.mirror.messages;
    }

    /** Resolves when the messages have been read. @throws what made that fail; `refresh` tries again */
    ready(): Promise<void> {
      return this.mirror.ready();
    }

    /** Reads again what others may have changed. What is unchanged keeps its object. */
    refresh(): Promise<void> {
      return this.mirror.refresh();
    }

    /**
     * Resolves when the server has everything that was asked for before.
     *
     * @throws the first failure that no call of this has told of. What the server refuses for good (`retryable` is false)
     *   is in the memory no more; anything else stays queued, and the next write or call of this tries again.
     */
    flushed(): Promise<void> {
      return this.mirror.flushed();
    }

    /** Removes all messages before it returns; the server follows. */
    reset(): void {
      this.mirror.reset();
    }

    createSnapshot(): MemorySnapshot {
      const options = this.known();
      return {
        ...(placeOf(options) as Partial<MemorySnapshot>),
        memory: this.kind,
        settings: this.settingsOf(options),
        needs: this.needsOf(options),
      };
    }

    /**
     * Takes up the memory that the snapshot names, with the handlers that this one was made with.
     *
     * @returns when it is read
     * @throws {MemoryFatalError} for one of another kind, or one that needs handlers or a model that this one has not
     */
    loadSnapshot(state: unknown): Promise<void> {
      const { success, data } = snapshot.safeParse(state);
      if (!success || data.memory !== this.kind)
        throw new MemoryFatalError(`This is no snapshot of a memory of the kind ${this.kind}.`);
      const { settings, needs } = data;
      const options = this.withNeeds({ ...placeOf(data), ...settings }, this.options);
      const missing = needs.filter((need) => !this.needsOf(options).includes(need));
      if (missing.length > 0)
        throw new MemoryFatalError(
          `A snapshot holds no functions and no models: make the memory with ${missing.join(', ')}, then load it.`,
        );
      const before = this.options === undefined ? Promise.resolve() : this.flushed();
      this.begin(options, before);
      return this.ready();
    }

    /** A memory of its own, in a chat of its own, with the same messages. With the seed's framework no promise. */
    clone(): this | Promise<this> {
      const copy = Object.create(Object.getPrototypeOf(this) as object) as this;
      const { key: _key, ...options } = this.known();
      copy.begin({ ...options, chatId: `bee-${newId()}` } as unknown as O, null);
      copy.takeFrom(this);
      return framework.clonesLater ? Promise.resolve(copy) : copy;
    }

    /** In place of the framework's own, which would make functions of texts. @throws {MemoryFatalError} */
    deserialize(text: string): unknown {
      try {
        return plainText(text);
      } catch (error) {
        throw new MemoryFatalError('This is no snapshot of a memory.', [error as Error]);
      }
    }

    begin(options: O, first: Promise<unknown> | null): void {
      mustNameChat(options);
      const part = this.partOf(options);
      const { kind } = this;
      let chat: ReturnType<typeof chatOf> | undefined;
      this.options = options;
      this.part = part;
      this.mirror = new Mirror<M>({
        chats,
        newId,
        messages: framework,
        chat: () => (chat ??= chatOf(options, kind)),
        mark: this.mark(),
        window: (rows, shown) => part.window(rows, shown),
        first,
      });
    }

    mark(): JsonObject {
      return {};
    }

    takeFrom(other: this): void {
      const { messages } = other;
      void this.change(() => messages.map((message) => this.row(message)));
    }

    /** @throws {MemoryFatalError} for a message that cannot be stored */
    row(message: M): Row<M> {
      try {
        return this.mirror.newRow(message);
      } catch (error) {
        throw new MemoryFatalError('This message cannot be stored.', [error as Error], { context: { message } });
      }
    }

    /** Where `plan` throws, the memory stays as it is. */
    change(plan: (rows: Rows<M>) => Rows<M> | Promise<Rows<M>>): Promise<void> {
      return this.mirror.change(plan);
    }

    known(): O {
      if (this.options === undefined) throw new MemoryFatalError('This memory has not been loaded.');
      return this.options;
    }
  }
  return StoredMemory;
}
