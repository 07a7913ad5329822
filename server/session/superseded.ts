import type { Undo } from './undo.js';

/**
 * What earlier attempts had sent and a new run may replace (TRN-9, TRN-11): it stands until the new run sends its first
 * message or completes, so that a reader loses text only to its replacement.
 */
export class Superseded {
  readonly #ofStep = new Map<string, readonly string[]>();
  #whole: readonly string[] = [];

  /** Messages that the new run of a step replaces. */
  addStep(stepId: string, messageIds: readonly string[]): void {
    if (messageIds.length > 0) this.#ofStep.set(stepId, messageIds);
  }

  /** Messages that whatever comes first in the attempt replaces. */
  addWhole(messageIds: readonly string[]): void {
    this.#whole = messageIds;
  }

  /** What a message of this step (null: of none) replaces. Every id is given once. */
  takeForMessage(stepId: string | null, undo?: Undo): readonly string[] {
    return [...this.takeWhole(undo), ...(stepId === null ? [] : this.takeForStep(stepId, undo))];
  }

  /** What the completion of this step replaces. */
  takeForStep(stepId: string, undo?: Undo): readonly string[] {
    const ids = this.#ofStep.get(stepId) ?? [];
    this.#ofStep.delete(stepId);
    if (ids.length > 0) undo?.add(() => this.#ofStep.set(stepId, ids));
    return ids;
  }

  /** What the completion of the turn replaces. */
  takeWhole(undo?: Undo): readonly string[] {
    const ids = this.#whole;
    this.#whole = [];
    if (ids.length > 0) undo?.add(() => (this.#whole = ids));
    return ids;
  }

  /** Forgets ids that somebody deleted meanwhile. */
  drop(messageIds: ReadonlySet<string>): void {
    const kept = (ids: readonly string[]) => ids.filter((id) => !messageIds.has(id));
    this.#whole = kept(this.#whole);
    for (const [stepId, ids] of this.#ofStep) this.#ofStep.set(stepId, kept(ids));
  }
}
