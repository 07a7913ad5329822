import type { FrameOutcome } from '../../assistant/run-assistant.js';
import type { Assignment, Message } from '../../protocol/index.js';
import { Deferred } from './deferred.js';
import type { MessageBuffer } from './message-buffer.js';
import type { StackPlace } from './step-recorder.js';

/** Who runs a frame and alone may write it (AGT-3). */
export interface Holder {
  /** Names the holder for comparing: an agent's attachment, or the in-process run. */
  readonly key: object;
  /** Tells the holder that nothing more is taken. Never throws. */
  abort(reason: string): void;
}

/** One stack of one attempt: a call of one assistant, with the numbering of what its holder sends. */
export class Frame {
  /** The highest seq that was applied (AGT-1). */
  lastSeq = 0;
  /** What delegations and the close were answered, by seq; pushes answer with their seq. */
  readonly answers = new Map<number, Promise<unknown>>();
  /** Steps begun in this frame and still open, the last begun last. */
  readonly openSteps: string[] = [];
  holder: Holder | null = null;
  /** What its host was given, while it runs. */
  assignment: Assignment | null = null;
  result: FrameOutcome | null = null;
  readonly done = new Deferred<FrameOutcome>();

  constructor(
    readonly place: StackPlace,
    public input: readonly Message[],
    /** Where messages of a frame go that is not shown: to its caller alone. Null: to everybody. */
    readonly aside: MessageBuffer | null = null,
  ) {}

  get stackId(): string {
    return this.place.stackId;
  }

  get isRoot(): boolean {
    return this.place.stackParentId === null;
  }

  /** Ends the frame, once; the first result stands. */
  finish(result: FrameOutcome): void {
    if (this.result) return;
    this.result = result;
    this.input = [];
    this.assignment = null;
    this.done.resolve(result);
  }

  /** Ends the frame for one who is told to stop. */
  abandon(result: FrameOutcome, reason: string): void {
    this.finish(result);
    this.holder?.abort(reason);
  }
}
