import { CALL_PATH, type Assignment, type Step } from '../protocol/index.js';

/** What earlier attempts recorded of a frame, by the place of each step among the calls (TRN-9). */
export class RecordedSteps {
  readonly #byPath = new Map<string, Step>();

  constructor({ resume, stackId }: Pick<Assignment, 'resume' | 'stackId'>) {
    const steps = resume ? [...resume.completedSteps, ...resume.otherSteps, ...resume.steps] : [];
    const mine = steps.filter((step) => step.stackId === stackId).sort((a, b) => a.sequence - b.sequence);
    // Steps of one who says no places stand in their order.
    let place = 0;
    for (const step of mine) {
      const named = step.metadata?.[CALL_PATH];
      const path = typeof named === 'string' ? named : String(++place);
      this.#byPath.set(path, step);
    }
  }

  at(path: string): Step | undefined {
    return this.#byPath.get(path);
  }

  /** Whether a step of the frame itself was recorded after its first `begun` ones. */
  hasLater(begun: number): boolean {
    return [...this.#byPath.keys()].some((path) => !path.includes('.') && Number(path) > begun);
  }
}
