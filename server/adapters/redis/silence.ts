import type { Clock, Timer } from '../../clock.js';

/**
 * Notices when somebody owes answers and has given none for `maxMs`. Many questions at once may take longer, as long as
 * answers come.
 */
export class Silence {
  #owed = 0;
  #since = 0;
  #timer: Timer | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly maxMs: number,
    private readonly onTooLong: () => void,
  ) {}

  asked(): void {
    if (this.#owed === 0) this.#since = this.clock.monotonic();
    this.#owed += 1;
    this.#timer ??= this.clock.after(this.maxMs, () => this.#look());
  }

  answered(): void {
    this.#owed -= 1;
    this.#since = this.clock.monotonic();
  }

  #look(): void {
    this.#timer = null;
    if (this.#owed === 0) return;
    const leftMs = this.#since + this.maxMs - this.clock.monotonic();
    if (leftMs > 0) this.#timer = this.clock.after(leftMs, () => this.#look());
    else this.onTooLong();
  }
}
