import { wellFormed, type JsonObject } from '../../protocol/index.js';
import type { TextType } from './said.js';

/** The part of a context that texts are written to. */
export interface TextsContext {
  send(message: { type: string; props: JsonObject }): Promise<string>;
  append(messageId: string, text: string): Promise<void>;
  end(messageId: string): Promise<void>;
}

/** The texts and thoughts of a piped stream: a message each, from its first word on. */
export class PipedTexts {
  /** By type and the stream's id. */
  readonly #open = new Map<string, string>();
  #said = '';

  constructor(private readonly ctx: TextsContext) {}

  /** All text so far. */
  get said(): string {
    return wellFormed(this.#said);
  }

  async write(type: TextType, id: string, delta: string): Promise<void> {
    if (delta === '') return;
    if (type === 'text') this.#said += delta;
    const key = `${type}:${id}`;
    let messageId = this.#open.get(key);
    if (messageId === undefined) {
      messageId = await this.ctx.send({ type, props: { content: '' } });
      this.#open.set(key, messageId);
    }
    await this.ctx.append(messageId, delta);
  }

  async end(type: TextType, id: string): Promise<void> {
    await this.#end(`${type}:${id}`);
  }

  async close(): Promise<void> {
    for (const key of [...this.#open.keys()]) await this.#end(key);
  }

  async #end(key: string): Promise<void> {
    const messageId = this.#open.get(key);
    this.#open.delete(key);
    if (messageId !== undefined) await this.ctx.end(messageId);
  }
}
