import {
  ChatError,
  isIncomplete,
  MAX_STACK_DEPTH,
  summaryOf,
  tooLarge,
  type FrameEnd,
  type Json,
  type JsonObject,
  type Step,
  type StepType,
} from '../../protocol/index.js';
import type { StepRecord } from '../ports/store.js';
import type { Effect } from './effect.js';
import { jsonBytes } from './message-buffer.js';
import type { Undo } from './undo.js';

/** Where in the call stack a step runs. */
export interface StackPlace {
  readonly stackId: string;
  readonly stackParentId: string | null;
  readonly stackDepth: number;
  readonly assistantId: string;
}

/**
 * The depth of a stack that this one calls.
 *
 * @param path the argument that asks for it
 * @throws {ChatError} `bad_request`: too deep
 */
export function depthBelow({ stackDepth }: StackPlace, path: string): number {
  if (stackDepth < MAX_STACK_DEPTH) return stackDepth + 1;
  throw new ChatError('bad_request', `A call stack has at most ${MAX_STACK_DEPTH} levels below its root.`, {
    details: { path },
  });
}

export interface StepStart extends StackPlace {
  readonly stepId: string;
  readonly type: StepType;
  readonly input: Json;
  readonly metadata: JsonObject | null;
}

export interface StepEnd {
  readonly stepId: string;
  readonly status: FrameEnd;
  readonly output: Json;
  readonly error: Json;
  readonly metadata?: JsonObject | null;
}

/**
 * The steps of a turn over all its attempts, with the space that they share. A completed step is never opened or
 * changed again.
 */
export class StepRecorder {
  readonly #steps = new Map<string, StepRecord>();
  readonly #space = new Map<string, Json>();
  readonly #places = new Map<string, StackPlace>();
  /** Steps begun in this attempt and not ended: an earlier attempt's may stand as running and yet begin again. */
  readonly #begunHere = new Set<string>();
  #order = 0;
  #bytes = 0;
  #spaceBytes = 0;
  readonly #bytesOf = new WeakMap<Step, number>();
  /** Bytes of steps that were written again after their end: a few words can do that to many megabytes. */
  #rewritten = 0;

  constructor(
    private readonly turn: { readonly chatId: string; readonly requestId: string },
    private readonly now: () => string,
    private readonly maxTurnBytes = Infinity,
  ) {}

  /** Takes up the steps of earlier attempts and the space to go on with. */
  restore(steps: readonly StepRecord[], space: JsonObject): void {
    for (const record of steps) {
      this.#steps.set(record.step.stepId, record);
      this.addPlace(record.step);
      this.#order = Math.max(this.#order, record.beginOrder, record.step.sequence);
      this.#bytes += this.#weigh(record.step);
    }
    for (const [key, value] of Object.entries(space)) this.setSpace(key, value);
  }

  /** Bytes that steps and space hold. */
  get bytes(): number {
    return this.#bytes + this.#spaceBytes;
  }

  get records(): Iterable<StepRecord> {
    return this.#steps.values();
  }

  get(stepId: string): Step | undefined {
    return this.#steps.get(stepId)?.step;
  }

  /** A stack that a frame or a step has named. */
  place(stackId: string): StackPlace | undefined {
    return this.#places.get(stackId);
  }

  addPlace({ stackId, stackParentId, stackDepth, assistantId }: StackPlace): void {
    if (!this.#places.has(stackId)) this.#places.set(stackId, { stackId, stackParentId, stackDepth, assistantId });
  }

  /**
   * Begins a step, or opens an incomplete one again under its id (TRN-9). The space as of now is kept with it.
   *
   * @throws {ChatError} `bad_request`: completed, or running
   */
  start(begun: StepStart, undo?: Undo): Effect {
    const before = this.#steps.get(begun.stepId);
    if (before && !isIncomplete(before.step)) throw refused(`The step ${begun.stepId} is completed.`);
    if (this.#begunHere.has(begun.stepId)) throw refused(`The step ${begun.stepId} is running.`);
    const order = ++this.#order;
    const step = before ? this.#again(before.step, begun) : this.#first(begun, order);
    if (before) this.#countRewrite(step, undo);
    const isNewPlace = !this.#places.has(step.stackId);
    const effect = this.#put('step.started', { step, beginOrder: order }, undo);
    this.addPlace(step);
    this.#begunHere.add(step.stepId);
    undo?.add(() => {
      this.#order = order - 1;
      this.#begunHere.delete(step.stepId);
      if (isNewPlace) this.#places.delete(step.stackId);
    });
    return effect;
  }

  #first({ input, metadata, ...begun }: StepStart, sequence: number): Step {
    const at = this.now();
    const { chatId, requestId } = this.turn;
    return {
      ...begun,
      chatId,
      requestId,
      status: 'running',
      input,
      output: null,
      spaceSnapshot: this.space(),
      error: null,
      sequence,
      metadata,
      createdAt: at,
      updatedAt: at,
    };
  }

  /** What it is and where it runs stays; what it starts from may be said anew. */
  #again(before: Step, { input, metadata }: StepStart): Step {
    return {
      ...before,
      status: 'running',
      input: input ?? before.input,
      output: null,
      spaceSnapshot: this.space(),
      error: null,
      metadata: metadata ?? before.metadata,
      updatedAt: this.now(),
    };
  }

  /** @throws {ChatError} `bad_request`: unknown, or not running */
  end(ended: StepEnd, undo?: Undo): Effect {
    const before = this.#steps.get(ended.stepId);
    if (!before) throw refused(`There is no step ${ended.stepId} in this turn.`);
    if (before.step.status !== 'running') throw refused(`The step ${ended.stepId} is not running.`);
    const step: Step = {
      ...before.step,
      status: ended.status,
      output: ended.output,
      error: ended.error,
      metadata: ended.metadata === undefined ? before.step.metadata : ended.metadata,
      updatedAt: this.now(),
    };
    const effect = this.#put('step.ended', { ...before, step }, undo);
    this.#begunHere.delete(step.stepId);
    undo?.add(() => this.#begunHere.add(step.stepId));
    return effect;
  }

  /**
   * Adds to the metadata of a step that has failed or was interrupted: whether its caller went on
   * (`handled`) shows only afterwards.
   *
   * @throws {ChatError} `bad_request`: running, completed or unknown
   */
  annotate(stepId: string, metadata: JsonObject, undo?: Undo): Effect {
    const before = this.#steps.get(stepId);
    if (!before || !isIncomplete(before.step) || before.step.status === 'running')
      throw refused(`The step ${stepId} has not failed.`);
    const step = { ...before.step, metadata: { ...before.step.metadata, ...metadata }, updatedAt: this.now() };
    this.#countRewrite(step, undo);
    return this.#put('step.ended', { ...before, step }, undo);
  }

  /** Gives a step another id. @returns whether it was there */
  rename(stepId: string, newId: string): boolean {
    const record = this.#steps.get(stepId);
    if (!record) return false;
    this.#steps.delete(stepId);
    this.#steps.set(newId, { ...record, step: { ...record.step, stepId: newId } });
    return true;
  }

  /** The steps that run now, in the order of their sequence. */
  running(): Step[] {
    return [...this.#steps.values()].map(({ step }) => step).filter((step) => step.status === 'running');
  }

  /** A copy of the space. Values are never changed in place, so it is as deep as it needs to be. */
  space(): JsonObject {
    return Object.fromEntries(this.#space);
  }

  setSpace(key: string, value: Json, undo?: Undo): void {
    this.#changeSpace(key, value, undo);
  }

  deleteSpace(key: string, undo?: Undo): void {
    this.#changeSpace(key, undefined, undo);
  }

  #changeSpace(key: string, value: Json | undefined, undo?: Undo): void {
    const before = this.#space.get(key);
    const write = (now: Json | undefined, was: Json | undefined) => {
      if (now === undefined) this.#space.delete(key);
      else this.#space.set(key, now);
      this.#spaceBytes += entryBytes(key, now) - entryBytes(key, was);
    };
    write(value, before);
    undo?.add(() => write(before, value));
  }

  #put(type: 'step.started' | 'step.ended', record: StepRecord, undo?: Undo): Effect {
    const id = record.step.stepId;
    const before = this.#steps.get(id);
    const bytes = this.#weigh(record.step);
    const added = bytes - (before ? this.#weigh(before.step) : 0);
    this.#steps.set(id, record);
    this.#bytes += added;
    undo?.add(() => {
      if (before) this.#steps.set(id, before);
      else this.#steps.delete(id);
      this.#bytes -= added;
    });
    return { kind: 'step', record, body: { type, requestId: this.turn.requestId, step: summaryOf(record.step) } };
  }

  /** What a step holds, counted once: it may be much, and is never changed in place. */
  #weigh(step: Step): number {
    const known = this.#bytesOf.get(step);
    if (known !== undefined) return known;
    const bytes = stepBytes(step);
    this.#bytesOf.set(step, bytes);
    return bytes;
  }

  /** @throws {ChatError} `payload_too_large`: each time the whole step goes to the journal */
  #countRewrite(step: Step, undo?: Undo): void {
    const bytes = this.#weigh(step);
    if (this.#rewritten + bytes > REWRITES * this.maxTurnBytes) throw tooLarge('maxTurnBytes', this.maxTurnBytes);
    this.#rewritten += bytes;
    undo?.add(() => (this.#rewritten -= bytes));
  }
}

/** How often a turn may write all of its steps again in one attempt: by beginning them again, and by marking them. */
const REWRITES = 4;

/** Bytes of one entry of the space, with what stands around it in JSON. */
const entryBytes = (key: string, value: Json | undefined): number =>
  value === undefined ? 0 : jsonBytes(key) + jsonBytes(value) + 2;

/** What a step counts (DAT-3). */
export const stepBytes = ({ input, output, spaceSnapshot, error, metadata }: Step): number =>
  [input, output, spaceSnapshot, error, metadata].reduce<number>((sum, value) => sum + jsonBytes(value), 256);

const refused = (sentence: string): ChatError =>
  new ChatError('bad_request', sentence, { details: { path: 'stepId' } });
