import type { HeldFrame } from './held-frame.js';
import { frameName, type FrameKey } from './frame-key.js';

/** Frames that have ended and are still remembered, so that an assignment that comes twice does not run twice (AGT-5). */
const REMEMBERED = 1_000;

/** The frames of an agent: those it holds, and the names of the last that it held. */
export class FrameTable {
  readonly #held = new Map<string, HeldFrame>();
  readonly #ended = new Set<string>();

  get size(): number {
    return this.#held.size;
  }

  get all(): readonly HeldFrame[] {
    return [...this.#held.values()];
  }

  get(key: FrameKey): HeldFrame | undefined {
    return this.#held.get(frameName(key));
  }

  /** Whether the frame runs here, or has run. */
  knows(key: FrameKey): boolean {
    const name = frameName(key);
    return this.#held.has(name) || this.#ended.has(name);
  }

  /** The frames of the same stack in other attempts. */
  otherAttempts({ requestId, attempt, stackId }: FrameKey): readonly HeldFrame[] {
    return this.all.filter(
      ({ key }) => key.requestId === requestId && key.stackId === stackId && key.attempt !== attempt,
    );
  }

  add(frame: HeldFrame): void {
    this.#held.set(frameName(frame.key), frame);
  }

  remove(frame: HeldFrame): void {
    const name = frameName(frame.key);
    this.#held.delete(name);
    this.#ended.add(name);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= REMEMBERED) break;
      this.#ended.delete(oldest);
    }
  }
}
