import type { Assistant } from '../../assistant/index.js';
import { frameEnded, turnErrorOf } from '../../assistant/assistant-error.js';
import { runAssistant, type FrameOutcome } from '../../assistant/run-assistant.js';
import { ChatError, cleanJson, type Assignment, type Turn } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { frameKeyOf, type FrameKey } from './frame-key.js';
import type { FrameSink } from './frame-sink.js';

/** How a frame came to its end. */
export interface FrameEnding extends FrameOutcome {
  /** The turn as it ended; null for a frame that is not the root, and where the server ended it without us. */
  readonly turn: Turn | null;
  /** Whether the turn is stored (TRN-7). */
  readonly persisted: boolean;
}

export interface HeldFrameNeeds {
  readonly assignment: Assignment;
  readonly sink: FrameSink;
  /** Makes an id that is unique in the world. */
  readonly newId: () => string;
  readonly clock: Clock;
  /** Is told what the assistant threw. */
  readonly onError: (error: unknown) => void;
  /** How long the answer to the close may take before it is asked for again, milliseconds. */
  readonly closeTimeoutMs: number;
}

/**
 * One frame in this agent's hands: the assistant's run, then the close with its outcome. The server's end comes first
 * where there is one: then nothing more is sent, and the run is told by its abort signal.
 */
export class HeldFrame {
  readonly key: FrameKey;
  readonly #abort = new AbortController();
  #state: 'running' | 'closing' | 'ended' = 'running';

  constructor(private readonly needs: HeldFrameNeeds) {
    this.key = frameKeyOf(needs.assignment);
  }

  get sink(): FrameSink {
    return this.needs.sink;
  }

  /** Whether the run is over, and the server is being told. */
  get isClosing(): boolean {
    return this.#state === 'closing';
  }

  /** Runs to the end. Never rejects. */
  async run(run: Assistant['run']): Promise<FrameEnding> {
    const { assignment, sink, newId, clock, onError } = this.needs;
    const outcome = await runAssistant(
      { run },
      { assignment, sink, abortSignal: this.#abort.signal, newId, clock, onError },
    );
    sink.finish();
    await sink.settled();
    if (this.#state !== 'running') return { ...outcome, turn: null, persisted: false };
    return this.#close(withLateError(outcome, sink.lateError));
  }

  /** This agent gives the frame up: the run is told, and the close says `interrupted`. Never rejects. */
  async interrupt(reason: string): Promise<void> {
    if (this.#state !== 'running') return;
    this.#signal(reason);
    await this.#close({ status: 'interrupted', output: null, error: null });
    this.sink.end(new ChatError('turn_ended', `The frame was given up: ${reason}.`));
  }

  /** The server has ended the frame, or given it to another: nothing more of it is taken. */
  end(reason: string, error: ChatError = new ChatError('turn_ended', `The frame was ended: ${reason}.`)): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.sink.end(error);
    this.#signal(reason);
  }

  async #close(outcome: FrameOutcome): Promise<FrameEnding> {
    this.#state = 'closing';
    try {
      return await this.#sendClose(outcome);
    } catch (error) {
      // An output that is no JSON, or too large, must not leave the turn hanging.
      if (outcome.output !== null && this.isClosing) return await this.#close(failedBy(error));
      return { status: 'interrupted', output: null, error: turnErrorOf(error), turn: null, persisted: false };
    } finally {
      this.#state = 'ended';
    }
  }

  async #sendClose(outcome: FrameOutcome): Promise<FrameEnding> {
    const { sink, closeTimeoutMs } = this.needs;
    const { status, error, usage } = outcome;
    const output = cleanJson(outcome.output);
    const close = { status, output, error, ...(usage === undefined ? {} : { usage }) };
    const answer = (await sink.call('turn:close', close, closeTimeoutMs)) as Partial<FrameEnding>;
    return { ...outcome, output, turn: answer.turn ?? null, persisted: answer.persisted ?? false };
  }

  #signal(reason: string): void {
    this.#abort.abort(frameEnded(reason));
  }
}

function withLateError(outcome: FrameOutcome, late: ChatError | null): FrameOutcome {
  return late && outcome.status === 'completed' ? failedBy(late) : outcome;
}

const failedBy = (error: unknown): FrameOutcome => ({ status: 'failed', output: null, error: turnErrorOf(error) });
