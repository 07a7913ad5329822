import type { DelegateAnswer, DelegateCall, Sink } from '../../assistant/index.js';
import {
  agentCommands,
  ChatError,
  parse,
  tooLarge,
  utf8Bytes,
  type Limits,
  type OpInput,
} from '../../protocol/index.js';
import { backoffMs, type Backoff } from '../backoff.js';
import type { Clock, Timer } from '../clock.js';
import type { IdSource } from '../id-source.js';
import { frameBytes } from '../local-error.js';
import type { Outcome } from '../pending-requests.js';
import type { FrameKey } from './frame-key.js';
import { Gathering } from './gathering.js';
import { PushLine, type Piece, type Sent } from './push-line.js';
import { indexedFrom, isLost, isOfCall, isOfContent, parseOp, pieceAt } from './push-refusal.js';
import { SentTexts } from './sent-texts.js';

export interface FrameSinkNeeds {
  readonly frame: FrameKey;
  /** Sends on the present connection; `lost` where there is none. */
  readonly request: (
    command: string,
    args: unknown,
    timeoutMs: number | null,
    done: (outcome: Outcome) => void,
  ) => void;
  readonly limits: () => Limits;
  /** Asks for a fresh token. */
  readonly refresh: () => void;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly backoff: Backoff;
  readonly bounds: SinkBounds;
  /** The server takes nothing more of this frame, whatever the assistant does. */
  readonly ended: (error: ChatError) => void;
}

/** How ops are gathered and sent. What is left out is the default. */
export interface SinkBounds {
  /** Least time between two pushes of one frame, so that ops gather, milliseconds. Default 5. */
  readonly flushMs: number;
  /** Ops that may wait to be applied before `push` makes the assistant wait. Default 1,024. */
  readonly maxBufferedOps: number;
  /** Bytes of such ops. Default 4 MiB. */
  readonly maxBufferedBytes: number;
  /** How long an acknowledgement may take before the push is sent again, milliseconds. Default 30,000. */
  readonly ackTimeoutMs: number;
}

/** Bytes of a frame around the ops of a push. */
const PUSH_ENVELOPE_BYTES = 512;
const MAX_PUSH_OPS = 1_000;
/** Failures in a row without progress after which the frame is given up. */
const MAX_GAPS = 5;
const MAX_INTERNAL = 3;

/**
 * Carries an assistant's ops to the server: gathered into pushes, numbered, at most 32 under way (AGT-6), each applied
 * exactly once and in order over all connections (AGT-1).
 *
 * A promise of `push` resolves when its ops were applied, and rejects when they were refused. Only what cannot be refused
 * for its content, text appended to a message that was sent here, does not wait for that while there is room: streaming
 * goes at the speed of the line and not of its round trips. Such ops can still meet a limit; then the next push rejects
 * with the reason, and the frame ends as failed.
 */
export class FrameSink implements Sink {
  readonly #line = new PushLine();
  readonly #texts = new SentTexts();
  readonly #roomWaiters: (() => void)[] = [];
  #attached = true;
  #over: ChatError | null = null;
  #ended: ChatError | null = null;
  #lateError: ChatError | null = null;
  readonly #gathering: Gathering;
  #pause: Timer | null = null;
  #failures = 0;
  #gaps = 0;
  #quiet: (() => void)[] = [];

  constructor(private readonly needs: FrameSinkNeeds) {
    this.#gathering = new Gathering(needs.clock, needs.bounds.flushMs, () => this.#pump());
  }

  /** A refusal that no promise of `push` has told of; null where there is none. */
  get lateError(): ChatError | null {
    return this.#lateError;
  }

  push(ops: readonly OpInput[]): Promise<void> {
    const promise = this.#push(ops);
    // An assistant that does not wait for what it pushed must not end the process when the turn is stopped.
    promise.catch(() => undefined);
    return promise;
  }

  /** Resolves when everything pushed has been applied or refused. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#quiet.push(resolve);
      this.#pump();
      this.#tellQuiet();
    });
  }

  /** Sends a numbered command in its place among the pushes. @throws {ChatError} the refusal, or the frame's end */
  call(command: string, args: Readonly<Record<string, unknown>>, timeoutMs: number | null): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const { maxFrameBytes } = this.needs.limits();
      const bytes = frameBytes(command, args) + PUSH_ENVELOPE_BYTES;
      if (bytes > maxFrameBytes) return reject(tooLarge('maxFrameBytes', maxFrameBytes, { bytes }));
      this.#line.add({ command, args, timeoutMs, answered: resolve, refused: reject });
      this.#pump();
    });
  }

  async delegate(call: DelegateCall): Promise<DelegateAnswer> {
    if (this.#over) throw this.#over;
    // However long it takes: a repetition after a lost connection is answered with the same end.
    return parse(agentCommands['turn:delegate'].result, await this.call('turn:delegate', { ...call }, null));
  }

  /** The connection is gone: what is under way waits for {@link attach}. */
  detach(): void {
    this.#attached = false;
    this.#unpause();
    this.#line.resend();
  }

  /** A new connection. `lastSeq` is what the server has; null where it has closed the frame, and the answer was lost. */
  attach(lastSeq: number | null): void {
    this.#attached = true;
    if (lastSeq !== null && !this.#line.resync(lastSeq))
      return this.#lost(new ChatError('conflict', 'The server has other ops than were sent.'));
    this.#makeRoom();
    this.#pump();
    this.#tellQuiet();
  }

  /** The run is over: nothing more is taken of its assistant. What was pushed before is sent, and so is the close. */
  finish(): void {
    this.#over ??= new ChatError('turn_ended', 'The run of this frame is over.');
  }

  /** Takes and sends nothing more; whatever waits is rejected. */
  end(error: ChatError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#unpause();
    this.#gathering.cancel();
    for (const item of this.#line.clear()) item.refused(error);
    this.#makeRoom();
    this.#tellQuiet();
  }

  async #push(input: readonly OpInput[]): Promise<void> {
    const over = this.#ended ?? this.#over;
    if (over) {
      // One who tries again and again must not stop the process: others get their turn.
      await new Promise<void>((resolve) => void this.needs.clock.after(0, resolve));
      throw over;
    }
    const late = this.#lateError;
    this.#lateError = null;
    if (late) throw late;
    const ops = input.map((candidate, index) => parseOp(candidate, index));
    const bytes = utf8Bytes(JSON.stringify(ops));
    const { maxFrameBytes } = this.needs.limits();
    if (bytes > maxFrameBytes - PUSH_ENVELOPE_BYTES) throw tooLarge('maxFrameBytes', maxFrameBytes, { bytes });
    const isSafe = this.#texts.isSafe(ops);
    this.#texts.note(ops);
    return new Promise((resolve, reject) => {
      let told = false;
      const piece: Piece = {
        ops,
        bytes,
        applied: resolve,
        refused: (error) => {
          this.#texts.forget(ops);
          if (told && !this.#ended) this.#lateError ??= error;
          reject(error);
        },
      };
      this.#line.add(piece);
      // Streamed text gathers; whoever sends a message or begins a step waits for the answer.
      this.#gathering.request(ops.some(({ op }) => op !== 'append'));
      if (!isSafe) return;
      const tell = (): void => {
        told = true;
        resolve();
      };
      if (this.#hasRoom) tell();
      else this.#roomWaiters.push(tell);
    });
  }

  get #hasRoom(): boolean {
    const { maxBufferedOps, maxBufferedBytes } = this.needs.bounds;
    return this.#line.ops <= maxBufferedOps && this.#line.bytes <= maxBufferedBytes;
  }

  #makeRoom(): void {
    while (this.#roomWaiters.length > 0 && (this.#hasRoom || this.#ended)) this.#roomWaiters.shift()?.();
  }

  #pump(): void {
    if (!this.#attached || this.#ended || this.#pause) return;
    const bounds = { maxPushBytes: this.needs.limits().maxFrameBytes - PUSH_ENVELOPE_BYTES, maxPushOps: MAX_PUSH_OPS };
    for (let item = this.#line.next(bounds); item; item = this.#line.next(bounds)) {
      this.#send(item);
      if (!this.#attached || this.#ended || this.#pause) return;
    }
  }

  #send(item: Sent): void {
    const { frame, request, bounds } = this.needs;
    const { content } = item;
    const flight = {};
    item.flight = flight;
    const name = { ...frame, seq: item.seq };
    const done = (outcome: Outcome): void => {
      if (item.flight === flight && !this.#ended) this.#answered(item, outcome);
    };
    if (content.kind === 'push') {
      const ops = content.pieces.flatMap((piece) => piece.ops);
      request('turn:push', { ...name, ops }, bounds.ackTimeoutMs, done);
    } else {
      request(content.call.command, { ...content.call.args, ...name }, content.call.timeoutMs, done);
    }
  }

  #answered(item: Sent, outcome: Outcome): void {
    switch (outcome.type) {
      case 'lost':
        return this.detach();
      case 'no_answer':
        this.#line.resend();
        return this.#pump();
      case 'refused':
        return this.#refused(item, outcome.error);
      case 'data':
        this.#failures = 0;
        this.#gaps = 0;
        this.#line.done(item);
        if (item.content.kind === 'call') item.content.call.answered(outcome.data);
        this.#makeRoom();
        if (!this.#gathering.isDue) this.#pump();
        this.#tellQuiet();
    }
  }

  #refused(item: Sent, error: ChatError): void {
    if (error.code === 'seq_gap') return this.#gap(error);
    if (error.code === 'token_expired') this.needs.refresh();
    const isStuck = error.code === 'internal' && this.#failures >= MAX_INTERNAL;
    const isOwn = item.content.kind === 'call' && isOfCall(error);
    if (error.retryable && !isStuck && !isOwn) return this.#retry(error);
    if (item.content.kind === 'call' ? isLost(error) : !isOfContent(error) && !isStuck) return this.#lost(error);
    this.#failures = 0;
    this.#blame(item, error);
    this.#makeRoom();
    this.#pump();
    this.#tellQuiet();
  }

  /** AGT-2: finds whose op it was that had a whole push refused, and tells that caller alone. */
  #blame(item: Sent, error: ChatError): void {
    const { content } = item;
    if (content.kind === 'call') {
      this.#line.refuse(item, []);
      return content.call.refused(error);
    }
    const { pieces } = content;
    const found = pieces.length === 1 ? { piece: pieces[0], before: 0 } : pieceAt(pieces, error.details['index']);
    if (!found?.piece) return this.#line.split(item);
    this.#line.refuse(item, [found.piece]);
    found.piece.refused(indexedFrom(error, found.before));
  }

  #gap(error: ChatError): void {
    const { expected } = error.details;
    const isKnown = typeof expected === 'number' && ++this.#gaps <= MAX_GAPS && this.#line.resync(expected - 1);
    if (!isKnown) return this.#lost(error);
    this.#makeRoom();
    this.#pump();
    this.#tellQuiet();
  }

  /** The server cannot take it now: everything goes again, by the same seqs, after a pause. */
  #retry(error: ChatError): void {
    const { clock, ids, backoff } = this.needs;
    this.#line.resend();
    this.#pause = clock.after(backoffMs(backoff, this.#failures++, ids.fraction(), error.retryAfterMs), () => {
      this.#pause = null;
      this.#pump();
    });
  }

  #unpause(): void {
    this.#pause?.cancel();
    this.#pause = null;
  }

  #lost(error: ChatError): void {
    this.end(error);
    this.needs.ended(error);
  }

  #tellQuiet(): void {
    if (this.#line.hasPushes) return;
    for (const quiet of this.#quiet.splice(0)) quiet();
  }
}
