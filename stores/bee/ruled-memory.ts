import type { BeeMessage } from './framework.js';
import type { MemoryOptions } from './options.js';
import { without, type Rule, type Rows } from './rule.js';
import { storedMemory, type MemoryPorts } from './stored-memory.js';

/** The class of memories that hold messages as they are, by a rule. */
export function ruledMemory<M extends BeeMessage, B extends object, L>(ports: MemoryPorts<M, B, L>) {
  const StoredMemory = storedMemory(ports);

  abstract class RuledMemory<O extends MemoryOptions, P extends Rule<M>> extends StoredMemory<O, P> {
    /**
     * Adds the message, at the index or at the end. It is in `messages` before this returns, unless something has to be
     * waited for: reading, a model, a call before this one.
     *
     * @returns when the server has it
     * @throws {MemoryFatalError} for what does not fit, and as `flushed` says
     */
    add(message: M, index?: number): Promise<void> {
      return this.change((rows) => this.part.admit(this.row(message), index, rows));
    }

    /** Adds all of a list or none. What comes bit by bit is added bit by bit. */
    addMany(messages: Iterable<M> | AsyncIterable<M>, start?: number): Promise<void> {
      if (!(Symbol.iterator in messages)) return this.addEach(messages, start);
      const list = [...messages];
      return this.change((rows) => this.admitted(list, start, rows));
    }

    /** Deletes this very message. @returns whether it was there, when the server has deleted it */
    delete(message: M): Promise<boolean> {
      let isThere = false;
      const deleted = this.change((rows) => {
        const rest = without(rows, message);
        isThere = rest !== rows;
        return rest;
      }).then(() => isThere);
      // As with an add, `flushed` tells of what went wrong.
      deleted.catch(() => undefined);
      return deleted;
    }

    deleteMany(messages: Iterable<M> | AsyncIterable<M>): Promise<void> {
      if (!(Symbol.iterator in messages)) return this.deleteEach(messages);
      const list = [...messages];
      return this.change((rows) => list.reduce<Rows<M>>((rest, message) => without(rest, message), rows));
    }

    /** Deletes so many from the start on, which counts from the end where it is negative, and adds the items there: both or neither. */
    async splice(start: number, deleteCount: number, ...items: M[]): Promise<M[]> {
      let removed: M[] = [];
      await this.change((rows) => {
        const from = start < 0 ? Math.max(rows.length + start, 0) : start;
        const gone = rows.slice(from, from + Math.max(0, Math.min(deleteCount, rows.length - from)));
        removed = gone.map(({ message }) => message);
        return this.admitted(
          items,
          from,
          rows.filter((row) => !gone.includes(row)),
        );
      });
      return removed;
    }

    async addEach(messages: AsyncIterable<M>, start: number | undefined): Promise<void> {
      let count = 0;
      for await (const message of messages) await this.add(message, start === undefined ? undefined : start + count++);
    }

    async deleteEach(messages: AsyncIterable<M>): Promise<void> {
      for await (const message of messages) await this.delete(message);
    }

    admitted(messages: readonly M[], start: number | undefined, rows: Rows<M>): Rows<M> | Promise<Rows<M>> {
      let kept = rows;
      for (const [count, message] of messages.entries()) {
        const index = start === undefined ? undefined : start + count;
        const next = this.part.admit(this.row(message), index, kept);
        if (next instanceof Promise)
          return next.then((more) =>
            this.admitted(messages.slice(count + 1), index === undefined ? undefined : index + 1, more),
          );
        kept = next;
      }
      return kept;
    }
  }
  return RuledMemory;
}
