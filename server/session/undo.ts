/** How to take back what was done, last first: what makes a push all or nothing (AGT-2). */
export class Undo {
  #steps: (() => void)[] = [];

  add(step: () => void): void {
    this.#steps.push(step);
  }

  /** Takes everything back. */
  run(): void {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) step();
  }
}
