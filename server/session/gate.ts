import { ChatError } from '../../protocol/index.js';
import type { Metrics } from '../metrics.js';
import type { Journal } from '../ports/journal.js';

/** Whether turns may begin: what a whole process says of itself. */
export class Gate {
  #draining = false;
  #unsavedBytes = 0;
  #whenRoom = (): void => undefined;

  constructor(
    private readonly journal: Pick<Journal, 'healthy'>,
    private readonly maxUnsavedBytes: number,
    private readonly metrics: Metrics,
  ) {}

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Refuses turns from now on (LIF-1). */
  drain(): void {
    this.#draining = true;
  }

  /** Calls back when too much was waiting to be stored, and no longer is. */
  onRoom(callback: () => void): void {
    this.#whenRoom = callback;
  }

  /** Counts what has ended and could not be stored (TRN-7). */
  addUnsaved(bytes: number): void {
    const wasFull = this.#isFull;
    this.#unsavedBytes += bytes;
    this.metrics.unsavedBytes.set(this.#unsavedBytes);
    if (wasFull && !this.#isFull) this.#whenRoom();
  }

  get #isFull(): boolean {
    return this.#unsavedBytes > this.maxUnsavedBytes;
  }

  /** Why no turn may begin, null when one may. */
  get refusal(): ChatError | null {
    if (this.#draining) return new ChatError('draining', undefined, { retryAfterMs: 1000 });
    if (!this.journal.healthy)
      return new ChatError('storage_unavailable', 'The journal cannot be written at present.', { retryAfterMs: 1000 });
    if (this.#isFull) {
      return new ChatError('storage_unavailable', 'Too much is waiting to be stored.', { retryAfterMs: 1000 });
    }
    return null;
  }
}
