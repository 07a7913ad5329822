import type { Limits, Message, StopReason, Turn, TurnError, Json } from '../../protocol/index.js';
import { attemptKey, type AttemptKey } from '../ports/journal.js';
import type { StepRecord, TurnRecord } from '../ports/store.js';
import type { Timer } from '../clock.js';
import { Frame } from './frame.js';
import { MessageBuffer } from './message-buffer.js';
import { StepRecorder } from './step-recorder.js';
import { Superseded } from './superseded.js';

/** How an attempt ends: exactly what its `turn.ended` will say. */
export type Outcome =
  | { readonly status: 'completed'; readonly usage?: Json }
  | {
      readonly status: 'interrupted' | 'failed';
      readonly stopReason: StopReason;
      readonly error?: TurnError | null;
      readonly usage?: Json;
    };

/** What a turn has come to: the final turn, and whether it is stored. */
export interface EndedTurn {
  readonly turn: Turn;
  readonly persisted: boolean;
}

/** What is kept of an attempt after its end, for an agent that repeats itself (AGT-1). */
export interface EndedAttempt {
  readonly turn: Turn;
  readonly frames: ReadonlyMap<string, Frame>;
  /** Bytes of what its calls were answered. */
  readonly answerBytes: number;
}

/**
 * The states of an attempt. It goes from left to right and never back:
 * queued → (waiting → running) → ending → unsaved | ended.
 */
export type AttemptState =
  | { readonly phase: 'queued' }
  /** At the head of the queue, or in the background: wants a host (TRN-10). */
  | { readonly phase: 'waiting'; readonly cancel: () => void }
  | { readonly phase: 'running' }
  | { readonly phase: 'ending'; readonly done: Promise<EndedTurn> }
  /** Ended for everybody, and not stored yet (TRN-7). */
  | { readonly phase: 'unsaved'; readonly end: EndedTurn }
  | { readonly phase: 'ended'; readonly end: EndedTurn };

/** What a turn answers. */
export interface Asked {
  readonly input: readonly Message[];
  /** The turns that this one answers anew, the newest first (TRN-11). */
  readonly answersAnew: readonly string[];
}

export interface LiveTurnNeeds extends Asked {
  readonly record: TurnRecord;
  readonly limits: Limits;
  readonly now: () => string;
}

/** One attempt of a turn in memory: its state, its call frames, its buffer. Only the chat's session changes it. */
export class LiveTurn {
  turn: Turn;
  readonly key: AttemptKey;
  state: AttemptState = { phase: 'queued' };
  readonly messages: MessageBuffer;
  readonly steps: StepRecorder;
  readonly superseded = new Superseded();
  /** Stored messages that this attempt has superseded: deleted for everybody, in the database with write 2. */
  readonly deletedStored = new Set<string>();
  readonly frames = new Map<string, Frame>();
  readonly root: Frame;
  /** The stacks that sent this attempt's messages, by message id. */
  readonly sentBy = new Map<string, string>();
  answerBytes = 0;
  /** Bytes that the input of open calls holds. */
  callBytes = 0;
  /** What open calls send that are not shown. */
  readonly aside = new Set<MessageBuffer>();
  /** Whether the journal knows of the attempt: it has begun, or has ended and could not be stored. */
  isJournaled = false;
  /** Whether its end is stored, with all that was edited until then: it is told of in a moment. */
  isStored = false;
  /** Messages of this turn that stand from earlier attempts. */
  standing: readonly Message[] = [];
  /** Ends the attempt when it runs too long (TRN-12). */
  timeLimit: Timer | null = null;

  constructor(readonly needs: LiveTurnNeeds) {
    const { record, input, limits, now } = needs;
    this.turn = record.turn;
    this.key = attemptKey(record.turn.requestId, record.turn.attempt);
    this.messages = new MessageBuffer(limits);
    this.steps = new StepRecorder(record.turn, now, limits.maxTurnBytes);
    this.root = this.addFrame(
      new Frame(
        { stackId: record.rootStackId, stackParentId: null, stackDepth: 0, assistantId: record.turn.assistantId },
        input,
      ),
    );
  }

  get requestId(): string {
    return this.turn.requestId;
  }

  /** The record as of now. */
  get record(): TurnRecord {
    return { ...this.needs.record, turn: this.turn };
  }

  /** Whether ops are taken. */
  get isRunning(): boolean {
    return this.state.phase === 'running';
  }

  /** Whether its place in the chat is taken: it has not come to its `turn.ended`. */
  get isLive(): boolean {
    return this.state.phase !== 'unsaved' && this.state.phase !== 'ended';
  }

  /** Whether its buffer holds what the database does not. */
  get isBuffered(): boolean {
    return this.state.phase === 'running' || this.state.phase === 'ending' || this.state.phase === 'unsaved';
  }

  get bytes(): number {
    let aside = 0;
    for (const buffer of this.aside) aside += buffer.bytes;
    return this.messages.bytes + this.steps.bytes + this.answerBytes + this.callBytes + aside;
  }

  /** Bytes that messages and steps may still take (DAT-3). */
  get room(): number {
    return this.needs.limits.maxTurnBytes - this.bytes;
  }

  addFrame(frame: Frame): Frame {
    this.frames.set(frame.stackId, frame);
    this.steps.addPlace(frame.place);
    return frame;
  }

  /** The ids of this stack and of those called from it. */
  stacksBelow(stackId: string): ReadonlySet<string> {
    const below = new Set([stackId]);
    const places = [
      ...[...this.frames.values()].map(({ place }) => place),
      ...this.stepRecords().map(({ step }) => step),
    ];
    for (let grew = true; grew;) {
      grew = false;
      for (const place of places) {
        if (place.stackParentId === null || !below.has(place.stackParentId) || below.has(place.stackId)) continue;
        below.add(place.stackId);
        grew = true;
      }
    }
    return below;
  }

  stepRecords(): StepRecord[] {
    return [...this.steps.records].sort((a, b) => a.step.sequence - b.step.sequence);
  }
}
