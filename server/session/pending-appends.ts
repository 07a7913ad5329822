import { DEFAULT_PATH, type EventBody } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import type { AppendBuffer, Coalescer } from './coalescer.js';

export type AppendBody = Extract<EventBody, { type: 'message.appended' }>;

/** The appends of one chat that wait to become events (SUB-6). They lie behind each other by message and path. */
export class PendingAppends implements AppendBuffer {
  readonly #pending = new Map<string, { body: AppendBody; text: string }>();
  #lastFlush = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly coalescer: Coalescer,
    private readonly emit: (body: AppendBody) => void,
  ) {}

  /** Emits the append at once where none came for a window, else joins it with what waits. */
  add(body: AppendBody): void {
    // Ids hold no space. A key that need not be made need not be hashed either.
    const key = body.path === DEFAULT_PATH ? body.messageId : `${body.messageId} ${body.path}`;
    const waiting = this.#pending.get(key);
    if (waiting) {
      waiting.text += body.text;
      return;
    }
    if (this.#pending.size === 0) {
      const now = this.clock.monotonic();
      const windowMs = this.coalescer.windowAt(now);
      if (windowMs > 0 && now - this.#lastFlush >= windowMs) {
        this.#lastFlush = now;
        this.emit(body);
        return;
      }
    }
    this.#pending.set(key, { body, text: body.text });
    this.coalescer.add(this);
  }

  flushAppends(): void {
    if (this.#pending.size === 0) return;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    this.#lastFlush = this.clock.monotonic();
    for (const { body, text } of waiting) this.emit({ ...body, text });
  }
}
