import type { Assignment, Step } from '../protocol/index.js';

/** The metadata key of a step's place among the calls of its frame. */
export const CALL_PATH = 'call';

/** What earlier attempts recorded of a frame, by the place of each step among the calls (TRN-9). */
export class RecordedSteps {
  readonly #byPath = new Map<string, Step>();
  /** The highest place among the steps recorded directly below each path. */
  readonly #lastBelow = new Map<string, number>();

  constructor({ resume, stackId }: Pick<Assignment, 'resume' | 'stackId'>) {
    const steps = resume ? [...resume.completedSteps, ...resume.otherSteps, ...resume.steps] : [];
    const mine = steps.filter((step) => step.stackId === stackId).sort((a, b) => a.sequence - b.sequence);
    // Steps of one who says no places stand in their order.
    let place = 0;
    for (const step of mine) {
      const named = step.metadata?.[CALL_PATH];
      const path = typeof named === 'string' ? named : String(++place);
      this.#byPath.set(path, step);
      this.#count(path);
    }
  }

  at(path: string): Step | undefined {
    return this.#byPath.get(path);
  }

  /** Whether a step was recorded below `path` after its first `begun` ones: what happens there now has happened before. */
  hasLater(path: string, begun: number): boolean {
    return (this.#lastBelow.get(path) ?? 0) > begun;
  }

  #count(path: string): void {
    const cut = path.lastIndexOf('.');
    const above = cut < 0 ? '' : path.slice(0, cut);
    const place = Number(path.slice(cut + 1));
    this.#lastBelow.set(above, Math.max(this.#lastBelow.get(above) ?? 0, place));
  }
}
