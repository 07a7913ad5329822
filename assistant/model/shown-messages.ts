import { REPLACEMENT, splitHalf, type JsonObject } from '../../protocol/index.js';
import type { Waiting } from '../time-limit.js';

/** The part of a context that a model call writes to. */
export interface ModelContext extends Waiting {
  /** Opens a message; gives its id. */
  send(message: string | { type: string; props: JsonObject }): Promise<string>;
  append(messageId: string, text: string, path?: string): Promise<void>;
  replace(messageId: string, message: string | { type: string; props: JsonObject }): Promise<void>;
  end(messageId: string): Promise<void>;
}

/** What a model streams that people see: its answer, and what it thinks before. */
export type BlockType = 'text' | 'thinking';

interface Block {
  messageId: string | null;
  /** Not shown yet: white space before the first word, and half of a surrogate pair. */
  held: string;
}

/** A place that an earlier try had filled and this one does not need: shown as nothing, and nothing to a model. */
const SPARE = { type: 'loading', props: { message: '', done: true } } as const;

/**
 * The messages that one model call shows, over all its tries: nothing stands twice, and nothing vanishes before there is
 * something instead. A message comes into being with the first visible text of its block, in the order in which the model
 * made them.
 *
 * A closed message cannot be taken back, so all stay open until the call has succeeded or is given up. When a try fails,
 * what it showed stands until the next one shows its first word; then that try's messages are taken into use again, in
 * order. Those that are left over become `loading` messages that are done.
 */
export class ShownMessages {
  /** Blocks under way, by type and the provider's id. */
  readonly #blocks = new Map<string, Block>();
  /** What this try shows. */
  #shown: string[] = [];
  /** What earlier tries showed and this one has not taken over, in order. */
  #earlier: string[] = [];
  #isEarlierCleared = true;

  constructor(private readonly ctx: ModelContext) {}

  /** The next try begins. */
  startOver(): void {
    this.#blocks.clear();
    if (this.#shown.length === 0) return;
    this.#earlier = [...this.#shown, ...this.#earlier];
    this.#shown = [];
    this.#isEarlierCleared = false;
  }

  async write(type: BlockType, id: string, delta: string): Promise<void> {
    const key = `${type}:${id}`;
    const block = this.#blocks.get(key) ?? { messageId: null, held: '' };
    this.#blocks.set(key, block);
    const text = block.held + delta;
    if (block.messageId === null && text.trim() === '') {
      block.held = text;
      return;
    }
    const { head, half } = splitHalf(text);
    block.held = half;
    if (head === '') return;
    if (block.messageId === null) block.messageId = await this.#open(type, head);
    else await this.ctx.append(block.messageId, head);
  }

  /** A block is complete: half a pair that is still held will never be whole. */
  async finish(type: BlockType, id: string): Promise<void> {
    await this.#finish(`${type}:${id}`);
  }

  /** The call has succeeded: all messages are final. */
  async close(): Promise<void> {
    for (const key of [...this.#blocks.keys()]) await this.#finish(key);
    if (!this.#isEarlierCleared) await this.#clearEarlier();
    await this.#end();
  }

  /** The call is given up: what people saw last stays. */
  async leave(): Promise<void> {
    await this.#end();
  }

  async #finish(key: string): Promise<void> {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    if (block === undefined || block.messageId === null || block.held === '') return;
    await this.ctx.append(block.messageId, REPLACEMENT);
  }

  async #open(type: BlockType, content: string): Promise<string> {
    const message = { type, props: { content } };
    const reused = this.#earlier.shift();
    if (reused === undefined) {
      const sent = await this.ctx.send(message);
      this.#shown.push(sent);
      return sent;
    }
    this.#shown.push(reused);
    await this.ctx.replace(reused, message);
    if (!this.#isEarlierCleared) await this.#clearEarlier();
    return reused;
  }

  async #clearEarlier(): Promise<void> {
    this.#isEarlierCleared = true;
    for (const messageId of this.#earlier) await this.ctx.replace(messageId, SPARE);
  }

  async #end(): Promise<void> {
    const all = [...this.#shown, ...this.#earlier];
    this.#shown = [];
    this.#earlier = [];
    for (const messageId of all) await this.ctx.end(messageId);
  }
}
