import {
  CALL_PATH,
  canonicalJson,
  isHandled,
  isIncomplete,
  json,
  parse,
  turnError,
  USAGE,
  WROTE,
  type Assignment,
  type Json,
  type JsonObject,
  type OpInput,
  type Step,
  type StepType,
} from '../protocol/index.js';
import { AssistantError, turnErrorOf } from './assistant-error.js';
import { goneOnAfter, thrownOn } from './failed-steps.js';
import { RecordedSteps } from './recorded-steps.js';
import { Scope, scopeOf, within } from './scope.js';
import type { Sink } from './sink.js';
import { SpaceMirror, wroteJson } from './space.js';
import { StandingMessages } from './standing.js';
import { addUsage } from './usage.js';

/** Time as an assistant needs it. */
export interface AssistantClock {
  after(ms: number, callback: () => void): { cancel(): void };
}

/** What a host gives to run an assistant on a frame. */
export interface FrameNeeds {
  readonly assignment: Assignment;
  readonly sink: Sink;
  readonly abortSignal: AbortSignal;
  /** Makes an id that is unique in the world. */
  readonly newId: () => string;
  readonly clock: AssistantClock;
  /** Is told what the assistant threw, for whoever runs it: people see a code and a sentence only. */
  readonly onError: (error: unknown) => void;
}

/** What of a step must be the same as an earlier attempt recorded in its place: type and input, or the type alone. */
export type StepMatch = 'input' | 'type';

/** A step that is wanted: what to run unless it was recorded as completed. */
export interface StepRun {
  readonly type: StepType;
  /** JSON; whatever else it is is refused. */
  readonly input: unknown;
  readonly run: (input: Json, step: RunningStep) => unknown;
  readonly match?: StepMatch;
  /** Metadata of a step that begins for the first time. */
  readonly metadata?: () => JsonObject;
}

/** A step as the code that runs it sees it. */
export interface RunningStep {
  readonly stepId: string;
  /** What it begins with. */
  readonly metadata: JsonObject;
}

/** What a step started from and what came of it, now or in an earlier attempt. */
export interface StepResult {
  readonly input: Json;
  readonly output: Json;
}

/** One run of an assistant on one frame: its steps, those of earlier attempts, its space and its usage. */
export class AssistantFrame {
  /** Ends the run with an error that was thrown where nobody could catch it. */
  crash: (error: unknown) => void = () => undefined;
  readonly space: SpaceMirror;
  readonly standing: StandingMessages;
  readonly #root = new Scope(this, null, '');
  readonly #recorded: RecordedSteps;
  #usage: JsonObject | null = null;

  constructor(readonly needs: FrameNeeds) {
    const { assignment } = needs;
    const push = (ops: readonly OpInput[]): Promise<void> => this.push(ops);
    this.#recorded = new RecordedSteps(assignment);
    this.standing = new StandingMessages(assignment, push);
    this.space = new SpaceMirror({
      initial: assignment.space,
      push,
      // A step that runs again writes again.
      isPast: () => this.scope === this.#root && this.#recorded.hasLater(this.#root.begun),
      wrote: (key, value) => void this.scope.wrote.set(key, value),
    });
  }

  /** Runs the assistant's code so that whatever it does, in timers too, is known to be this frame's. */
  within<T>(run: () => T): T {
    return within(this.#root, run);
  }

  /** Where what the code does now belongs. */
  get scope(): Scope {
    return scopeOf(this.#root);
  }

  /** Tokens used by this frame and by those that it called, in all attempts. */
  get usage(): JsonObject | null {
    return this.#usage;
  }

  addUsage(usage: Json): void {
    const { scope } = this;
    this.#usage = addUsage(this.#usage, usage);
    scope.usage = addUsage(scope.usage, usage);
  }

  push(ops: readonly OpInput[]): Promise<void> {
    return this.needs.sink.push(ops);
  }

  /** Settles as the promise does, or rejects as soon as the turn is stopped: whatever hangs is left behind. */
  abortable<T>(promise: Promise<T>): Promise<T> {
    const { abortSignal } = this.needs;
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => reject(abortSignal.reason as Error);
      if (abortSignal.aborted) abort();
      abortSignal.addEventListener('abort', abort, { once: true });
      promise.then(resolve, reject).finally(() => abortSignal.removeEventListener('abort', abort));
    });
  }

  /** Resolves after `ms`, or when `until` fires; rejects when the turn is stopped. */
  wait(ms: number, until?: AbortSignal): Promise<void> {
    const { abortSignal, clock } = this.needs;
    return new Promise<void>((resolve, reject) => {
      const settle = (how: () => void) => (): void => {
        timer.cancel();
        abortSignal.removeEventListener('abort', stop);
        until?.removeEventListener('abort', end);
        how();
      };
      const stop = settle(() => reject(abortSignal.reason as Error));
      const end = settle(resolve);
      const timer = clock.after(ms, end);
      abortSignal.addEventListener('abort', stop);
      until?.addEventListener('abort', end);
      // Not at once: one who tries again and again must not stop the process.
      if (abortSignal.aborted) clock.after(0, stop);
      else if (until?.aborted) end();
    });
  }

  /**
   * Runs a step, or gives what it came to in an earlier attempt: a completed one is not run again, an incomplete one runs
   * again under its id (TRN-9).
   *
   * @throws {AssistantError} `resume_mismatch`: another step was recorded here; or what a step threw whose caller went on
   */
  async step(wanted: StepRun): Promise<StepResult> {
    const scope = this.scope;
    const path = scope.nextPath();
    const given = parse(json, wanted.input ?? null, ['input']);
    const recorded = this.#recorded.at(path);
    const input = recorded ? inputOf(recorded, wanted, given, path) : given;
    if (recorded && isOver(recorded)) return { input, output: this.#outputOf(recorded) };
    const metadata = recorded?.metadata ?? { ...wanted.metadata?.(), [CALL_PATH]: path };
    const stepId = recorded?.stepId ?? this.needs.newId();
    await this.push([...goneOnAfter(scope), { op: 'step.start', stepId, type: wanted.type, input, metadata }]);
    const output = await this.#run(wanted, new Scope(this, stepId, path), { input, metadata }, scope);
    return { input, output };
  }

  /**
   * The next step below the one whose code runs, for who begins and ends it himself. It is a record of what happened, and no
   * unit of a resume: where the code above it runs again, so does it, under its id.
   */
  innerStep(type: StepType): RunningStep {
    const path = this.scope.nextPath();
    const recorded = this.#recorded.at(path);
    const isAgain = recorded !== undefined && recorded.type === type && isIncomplete(recorded);
    return { stepId: isAgain ? recorded.stepId : this.needs.newId(), metadata: { [CALL_PATH]: path } };
  }

  /** What a step that is not run again came to, and did on the way. @throws {AssistantError} what it had thrown */
  #outputOf(recorded: Step): Json {
    this.addUsage(recorded.metadata?.[USAGE] ?? null);
    this.space.rewrite(recorded.metadata?.[WROTE] ?? null);
    if (isIncomplete(recorded)) throw errorOf(recorded);
    return recorded.output;
  }

  async #run(wanted: StepRun, own: Scope, { input, metadata }: RunInput, above: Scope): Promise<Json> {
    const stepId = own.stepId as string;
    try {
      const running = within(own, async () => wanted.run(input, { stepId, metadata }));
      const output = parse(json, (await this.abortable(running)) ?? null, ['output']);
      // Refused where it is too large: then the step has failed.
      await this.push([
        ...goneOnAfter(own),
        { op: 'step.end', stepId, status: 'completed', output, ...leftBy(own, metadata) },
      ]);
      return output;
    } catch (error) {
      await this.#failed(own, metadata, error);
      above.failed.set(stepId, error);
      throw error;
    } finally {
      above.usage = addUsage(above.usage, own.usage);
      for (const [key, value] of own.wrote) above.wrote.set(key, value);
    }
  }

  /** The step has failed; when the turn has ended, its end says how. */
  async #failed(own: Scope, metadata: JsonObject, error: unknown): Promise<void> {
    if (this.needs.abortSignal.aborted) return;
    const stepId = own.stepId as string;
    const left = leftBy(own, metadata);
    const ended: OpInput = { op: 'step.end', stepId, status: 'failed', error: { ...turnErrorOf(error) }, ...left };
    // What the step threw says more than that it could not be recorded.
    await this.push([...thrownOn(own, error), ended]).catch(() => undefined);
  }

  /** The steps that failed and whose caller went on all the same (TRN-9), now that something follows them. */
  goOn(): OpInput[] {
    const scope = this.scope;
    return scope.failed.size === 0 ? [] : goneOnAfter(scope);
  }

  /** The run has come to its end without an error. */
  async finish(): Promise<void> {
    const handled = goneOnAfter(this.#root);
    if (handled.length > 0) await this.push(handled);
    await this.standing.finish();
  }

  /** The run has thrown. */
  async fail(error: unknown): Promise<void> {
    const ops = thrownOn(this.#root, error);
    if (ops.length > 0 && !this.needs.abortSignal.aborted) await this.push(ops).catch(() => undefined);
  }
}

interface RunInput {
  readonly input: Json;
  readonly metadata: JsonObject;
}

/** The code of a step that has ended is not run again when the turn is resumed: what it used and wrote stays with the step. */
function leftBy({ usage, wrote }: Scope, metadata: JsonObject): { metadata?: JsonObject } {
  if (!usage && wrote.size === 0) return {};
  return {
    metadata: {
      ...metadata,
      ...(usage ? { [USAGE]: usage } : {}),
      ...(wrote.size > 0 ? { [WROTE]: wroteJson(wrote) } : {}),
    },
  };
}

/** Whether it is not run again: it has completed, or its caller went on without it. */
const isOver = (step: Step): boolean => !isIncomplete(step) || isHandled(step);

/** What a step that was recorded before starts from. @throws {AssistantError} `resume_mismatch` */
function inputOf(recorded: Step, wanted: StepRun, given: Json, path: string): Json {
  const isSame =
    recorded.type === wanted.type &&
    (wanted.match === 'type' || canonicalJson(recorded.input) === canonicalJson(given));
  if (isSame) return recorded.input;
  const what = recorded.type === wanted.type ? 'another input' : `type ${recorded.type}, not ${wanted.type}`;
  throw new AssistantError(
    'resume_mismatch',
    `Step ${path} of this frame was recorded with ${what}: a run that is resumed must make the same steps in the same order.`,
  );
}

/** What a failed step had thrown, as it was recorded. */
function errorOf({ error }: Step): AssistantError {
  const { code, message } = parse(turnError, error ?? 'the step failed');
  return new AssistantError(code, message);
}
