import { delayOf, microsNow, TOKEN_LENGTH, tokenAt } from '../token.js';
import type { FrameTaker } from './frame-client.js';

const TEXT = Buffer.from('"text":"');
const QUOTE = 0x22;
/** Before the first token of a connection, which may be any. */
const NOTHING = -1;

/** Counts and checks all that a number of connections hear. */
export class Tally {
  /** Appends heard, over all connections. */
  heard = 0;
  frames = 0;
  bytes = 0;
  /** Appends that came twice, out of order or torn. */
  wrong = 0;
  /** Milliseconds from when an append was due until it was here, of the connections that are timed. */
  readonly delays: number[] = [];

  constructor(
    /** `numbers`: each token is one more than the last; `times`: each is later than the last. */
    readonly tokens: 'numbers' | 'times',
  ) {}

  /** What one connection hears. */
  ear({ isTimed = false }: { isTimed?: boolean } = {}): FrameTaker {
    let last = NOTHING;
    return (bytes, from, to) => {
      this.frames++;
      this.bytes += to - from;
      const frame = bytes.subarray(from, to);
      for (let at = frame.indexOf(TEXT); at >= 0; at = frame.indexOf(TEXT, at)) {
        at += TEXT.length;
        for (; frame[at] !== QUOTE && at < frame.length; at += TOKEN_LENGTH) {
          const token = tokenAt(frame, at);
          const isNext = this.tokens === 'numbers' ? token === last + 1 : token > last;
          if (!isNext && last !== NOTHING) this.wrong++;
          last = token;
          this.heard++;
          if (isTimed) this.delays.push(delayOf(token, microsNow()));
        }
      }
    };
  }

  /** Begins a new count; what connections have heard last stays known. */
  clear(): void {
    this.heard = 0;
    this.frames = 0;
    this.bytes = 0;
    this.wrong = 0;
    this.delays.length = 0;
  }

  /** Waits until everything has come. @throws {Error} what is missing, double or wrong: such a run has no figure */
  async expect(appends: number, what: string, ms = 20_000): Promise<void> {
    const end = performance.now() + ms;
    while (this.heard < appends && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
    if (this.heard !== appends) throw new Error(`${what}: ${this.heard} of ${appends} appends were delivered`);
    if (this.wrong > 0) throw new Error(`${what}: ${this.wrong} appends were not the next ones`);
  }
}
