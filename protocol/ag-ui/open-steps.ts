import { CHILD_STACK } from '../step-metadata.js';
import type { StepSummary } from '../step.js';
import type { AgUiEvent } from './event.js';

/** The steps of a run that are open, by names that no other step of it has had. */
export class OpenSteps {
  readonly #open = new Map<string, string>();
  readonly #names = new Set<string>();

  /** Of a step that is open already nothing is told. */
  start(step: StepSummary): AgUiEvent[] {
    if (this.#open.has(step.stepId)) return [];
    const plain = plainName(step);
    const stepName = this.#names.has(plain) ? this.#numbered(`${plain}#${step.sequence}`) : plain;
    this.#names.add(stepName);
    this.#open.set(step.stepId, stepName);
    return [{ type: 'STEP_STARTED', stepName }];
  }

  /** Of one whose beginning was not told, neither is the end. */
  finish(stepId: string): AgUiEvent[] {
    const stepName = this.#open.get(stepId);
    if (stepName === undefined) return [];
    this.#open.delete(stepId);
    return [{ type: 'STEP_FINISHED', stepName }];
  }

  finishAll(): AgUiEvent[] {
    // What began last ends first.
    return [...this.#open.keys()].toReversed().flatMap((stepId) => this.finish(stepId));
  }

  /** A step that runs again in the same attempt has a name for each time. */
  #numbered(name: string): string {
    if (!this.#names.has(name)) return name;
    for (let time = 2; ; time++) if (!this.#names.has(`${name}.${time}`)) return `${name}.${time}`;
  }
}

/** A call of another assistant is named by whom it calls, where the step says so, else by the stack that it opens. */
function plainName({ type, metadata }: StepSummary): string {
  if (type !== 'delegate') return type;
  const called = metadata?.['assistantId'] ?? metadata?.[CHILD_STACK];
  return typeof called === 'string' ? `agent:${called}` : type;
}
