import type { Json, JsonObject } from '../../protocol/index.js';
import { AssistantError } from '../assistant-error.js';
import type { AssistantFrame } from '../frame.js';
import { ModelError, modelErrorOf } from '../model/model-error.js';
import { Outside } from '../outside.js';
import { addUsage } from '../usage.js';
import { isModelPart, ofPart } from './of-parts.js';
import { ofChunk } from './of-chunks.js';
import { PipedCalls } from './piped-calls.js';
import { PipedTexts } from './piped-texts.js';
import { reading, type Source } from './reading.js';
import type { Part, Said } from './said.js';

/** What `streamText` of the AI SDK gives, or its `fullStream`; or a stream of UI message chunks. */
export type Pipeable = Source | { readonly fullStream: Source };

/** A stream, or what makes one when it is needed. */
export type PipeSource = Pipeable | (() => Pipeable | Promise<Pipeable>);

/** What a piped stream came to. */
export interface Piped {
  /** All text of it. */
  readonly text: string;
  /** `stop`, `length`, `tool-calls` …; null where the stream did not say. */
  readonly finishReason: string | null;
  /** Tokens, as `addUsage` counts them; null where the stream did not say. */
  readonly usage: JsonObject | null;
}

/** The part of a context that a stream is written to. */
export interface PipeContext {
  readonly abortSignal: AbortSignal;
  send(message: { type: string; props: JsonObject }): Promise<string>;
  append(messageId: string, text: string, path?: string): Promise<void>;
  replace(messageId: string, message: { type: string; props: JsonObject }): Promise<void>;
  merge(messageId: string, value: Json): Promise<void>;
  set(messageId: string, path: string, value: Json): Promise<void>;
  end(messageId: string): Promise<void>;
  signal(name: string, data?: Json): Promise<void>;
}

/**
 * Tells people what a stream of the AI SDK says, within a step of type `llm`, and each of its tool calls as a step of type
 * `tool` within that one. When the turn is resumed the stream is asked for again as a whole, unless it had come to its end:
 * its calls are made by the SDK, which cannot be given what earlier ones came to.
 *
 * @throws {ModelError} the model failed, or stopped in the middle. {AssistantError} the error of a UI message stream
 */
export async function pipe(ctx: PipeContext, frame: AssistantFrame, given: PipeSource): Promise<Piped> {
  let isRead = false;
  const run = async (): Promise<Json> => {
    isRead = true;
    return read(ctx, frame, typeof given === 'function' ? await given() : given);
  };
  try {
    const { output } = await frame.step({ type: 'llm', input: null, run, match: 'type' });
    return output as unknown as Piped;
  } finally {
    // The step had come to its end before: nobody hears what this stream would say.
    if (!isRead && typeof given !== 'function') reading(sourceOf(given)).stop();
  }
}

async function read(ctx: PipeContext, frame: AssistantFrame, given: Pipeable): Promise<Json> {
  const { abortSignal } = ctx;
  // Whoever made the stream may not have given it the turn's signal.
  const { next, stop } = reading(sourceOf(given));
  abortSignal.addEventListener('abort', stop, { once: true });
  const piped = new Pipe(ctx, frame);
  try {
    for (let { done, value } = await next(); done !== true; { done, value } = await next()) {
      abortSignal.throwIfAborted();
      await piped.take(value);
    }
    abortSignal.throwIfAborted();
    return await piped.finish();
  } catch (error) {
    abortSignal.throwIfAborted();
    stop();
    // The error is what happened, whether or not this succeeds.
    await piped.close().catch(() => undefined);
    if (error instanceof Outside) throw error.cause;
    throw error instanceof AssistantError ? error : modelErrorOf(error);
  } finally {
    abortSignal.removeEventListener('abort', stop);
  }
}

const refused = (): AssistantError =>
  new AssistantError('bad_result', 'ctx.pipe takes a result of streamText, or a stream of UI message chunks.');

function sourceOf(given: Pipeable): Source {
  const source: unknown = 'fullStream' in Object(given) ? (given as { fullStream: unknown }).fullStream : given;
  if (source === null || typeof source !== 'object' || !(Symbol.asyncIterator in source)) throw refused();
  return source as Source;
}

/** One stream on its way into messages. */
class Pipe {
  #finishReason: string | null = null;
  /** Whether it is a model's own stream, which says its end. */
  #isModel = false;
  #hasEnded = false;
  readonly #texts: PipedTexts;
  readonly #calls: PipedCalls;
  /** Data parts by their ids. */
  readonly #data = new Map<string, string>();
  #usage: JsonObject | null = null;

  constructor(
    private readonly ctx: PipeContext,
    private readonly frame: AssistantFrame,
  ) {
    this.#texts = new PipedTexts(ctx);
    this.#calls = new PipedCalls(ctx, frame);
  }

  /** @throws {Outside} what was refused; whatever the stream says that it failed with */
  async take(part: unknown): Promise<void> {
    if (part === null || typeof part !== 'object' || !('type' in part) || typeof part.type !== 'string')
      throw new Outside(refused());
    const isModel = isModelPart(part as Part);
    this.#isModel ||= isModel;
    for (const said of isModel ? ofPart(part as Part) : ofChunk(part as Part)) {
      if (said.kind === 'failed') throw said.error;
      if (said.kind === 'aborted') throw new Outside(new AssistantError('aborted', 'The stream was aborted.'));
      try {
        await this.#tell(said);
      } catch (error) {
        throw new Outside(error);
      }
    }
  }

  /** @throws {ModelError} it has not said that it was over */
  async finish(): Promise<Json> {
    if (this.#isModel && !this.#hasEnded)
      throw new ModelError('The model stopped in the middle of its answer.', { retryable: true });
    await this.close();
    return { text: this.#texts.said, finishReason: this.#finishReason, usage: this.#usage };
  }

  /** All that is open is final. */
  async close(): Promise<void> {
    await this.#texts.close();
    await this.#calls.close();
    for (const messageId of this.#data.values()) await this.ctx.end(messageId);
    this.#data.clear();
  }

  async #tell(said: Said): Promise<void> {
    switch (said.kind) {
      case 'text':
        return this.#texts.write(said.type, said.id, said.delta);
      case 'text-end':
        return this.#texts.end(said.type, said.id);
      case 'call':
        return this.#calls.take(said.said);
      case 'message':
        return this.#message(said);
      case 'signal':
        return this.ctx.signal(said.name, said.data);
      case 'usage':
        this.#usage = addUsage(this.#usage, said.usage);
        this.frame.addUsage(said.usage);
        return;
      case 'finish':
        this.#hasEnded = true;
        this.#finishReason = said.reason;
        return;
      default:
        return;
    }
  }

  async #message({ type, props, id }: Extract<Said, { kind: 'message' }>): Promise<void> {
    const known = id === null ? undefined : this.#data.get(id);
    if (known !== undefined) return this.ctx.replace(known, { type, props });
    const messageId = await this.ctx.send({ type, props });
    if (id === null) await this.ctx.end(messageId);
    else this.#data.set(id, messageId);
  }
}
