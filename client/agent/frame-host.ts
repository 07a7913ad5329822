import type { Assistant } from '../../assistant/index.js';
import {
  assignment as assignmentSchema,
  ChatError,
  parse,
  turnAbort as turnAbortSchema,
  type AgentResult,
  type Assignment,
} from '../../protocol/index.js';
import type { Clock, Timer } from '../clock.js';
import type { IdSource } from '../id-source.js';
import type { FailedRun } from './agent-options.js';
import { frameKeyOf, type FrameKey } from './frame-key.js';
import { FrameTable } from './frame-table.js';
import { HeldFrame, type FrameEnding } from './held-frame.js';
import type { FrameSink } from './frame-sink.js';

/** A frame that the server says this agent holds. */
export type AssignedFrame = AgentResult<'agent:attach'>['assigned'][number];

export interface FrameHostNeeds {
  readonly assistants: ReadonlyMap<string, Assistant>;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly closeTimeoutMs: number;
  /** How long frames go on without a connection, milliseconds. */
  readonly lostAfterMs: number;
  readonly createSink: (key: FrameKey, ended: (error: ChatError) => void) => FrameSink;
  /** Gives what `turn:assigned` carried. @throws {ChatError} */
  readonly readInput: (frame: AssignedFrame) => Promise<Assignment>;
  /** Closes a frame that nobody runs, as interrupted. */
  readonly giveUp: (frame: AssignedFrame) => void;
  readonly changed: () => void;
  /** Is told what an assistant threw. */
  readonly onError: (error: unknown, about: FailedRun) => void;
}

/** The frames that an agent runs: taken once each, told of their end, carried over from one connection to the next. */
export class FrameHost {
  readonly #table = new FrameTable();
  /** Frames that the server assigned; those that this agent opened are its own affair. */
  readonly #assigned = new Set<HeldFrame>();
  /** Turns that are being opened: the server knows of them, and their frames do not run yet. */
  readonly opening = new Set<string>();
  #lostTimer: Timer | null = null;
  #isDraining = false;

  constructor(private readonly needs: FrameHostNeeds) {}

  get running(): number {
    return this.#table.size;
  }

  get frames(): readonly HeldFrame[] {
    return this.#table.all;
  }

  knows(key: FrameKey): boolean {
    return this.#table.knows(key);
  }

  /** Takes nothing new. */
  drain(): void {
    this.#isDraining = true;
  }

  /** `turn:assigned`: said yes to and begun, before this returns; or refused, so that another agent gets it. */
  assigned(body: unknown, reply: (answer: unknown) => void): void {
    try {
      this.#take(parse(assignmentSchema, body), () => reply({ ok: true }));
    } catch (error) {
      reply({ ok: false, error: (error instanceof ChatError ? error : new ChatError('internal')).body() });
    }
  }

  /** `turn:abort`: the run is told, and nothing more of it is sent. */
  aborted(body: unknown): void {
    const { success, data } = turnAbortSchema.safeParse(body);
    const frame = success ? this.#table.get(data) : undefined;
    if (frame && success) this.#end(frame, data.reason);
  }

  /** Runs a frame to its end. */
  begin(assignment: Assignment, run: Assistant['run'], isAssigned = false): Promise<FrameEnding> {
    const { createSink, clock, ids, closeTimeoutMs, changed } = this.needs;
    const { turn, assistantId = turn.assistantId } = assignment;
    const about = { assistantId, chatId: turn.chatId, requestId: turn.requestId };
    const onError = (error: unknown): void => this.needs.onError(error, about);
    const sink = createSink(frameKeyOf(assignment), (error) => this.#end(frame, error.code, error));
    const frame: HeldFrame = new HeldFrame({ assignment, sink, newId: () => ids.id(), clock, onError, closeTimeoutMs });
    // An attempt that is newer, or older, than one that still runs here has taken its place.
    for (const other of this.#table.otherAttempts(frame.key)) this.#end(other, 'stale_attempt');
    this.#table.add(frame);
    if (isAssigned) this.#assigned.add(frame);
    changed();
    return frame.run(run).finally(() => this.#forget(frame));
  }

  /** The connection is gone. Frames go on for a while: the agent may be back before the server gives them away (AGT-4). */
  detach(): void {
    const { clock, lostAfterMs } = this.needs;
    for (const frame of this.#table.all) frame.sink.detach();
    this.#lostTimer ??= clock.after(lostAfterMs, () => this.endAll('agent_lost'));
  }

  /**
   * Attached again. `before` are the frames held when the connection was made: what the server does not name any more is
   * lost, what it names goes on after `lastSeq`, and what nobody runs is begun, or given up if it was begun elsewhere.
   */
  reattach(before: readonly HeldFrame[], assigned: readonly AssignedFrame[]): void {
    this.#lostTimer?.cancel();
    this.#lostTimer = null;
    const lastSeqOf = new Map<HeldFrame, number>();
    for (const named of assigned) {
      const frame = this.#table.get(named);
      if (frame) lastSeqOf.set(frame, named.lastSeq);
      else if (!this.opening.has(named.requestId)) void this.#adopt(named);
    }
    for (const frame of before) {
      const lastSeq = lastSeqOf.get(frame);
      if (lastSeq !== undefined) frame.sink.attach(lastSeq);
      else if (frame.isClosing) frame.sink.attach(null);
      else this.#end(frame, 'agent_lost');
    }
  }

  endAll(reason: string): void {
    this.#lostTimer?.cancel();
    this.#lostTimer = null;
    for (const frame of this.#table.all) this.#end(frame, reason);
  }

  /** @throws {ChatError} `draining`, `agent_unavailable`: not taken */
  #take(assignment: Assignment, taken: () => void): void {
    // Once, however often it comes.
    if (this.#table.knows(frameKeyOf(assignment))) return taken();
    if (this.#isDraining) throw new ChatError('draining', 'This agent is shutting down.');
    const { concurrency } = this.needs;
    if (this.#assigned.size >= concurrency && !this.#isOwnCall(assignment))
      throw new ChatError('agent_unavailable', `All ${concurrency} places are taken.`);
    const assistant = this.#assistantOf(assignment);
    if (!assistant) throw new ChatError('agent_unavailable', 'This agent does not serve the assistant.');
    taken();
    void this.begin(assignment, assistant.run, true);
  }

  /** A call within a turn that runs here always finds room: its caller waits for it and frees none. */
  #isOwnCall({ stackParentId, turn }: Assignment): boolean {
    return stackParentId !== null && this.#table.all.some(({ key }) => key.requestId === turn.requestId);
  }

  #assistantOf({ assistantId, turn, stackDepth }: Assignment): Assistant | undefined {
    const { assistants } = this.needs;
    const named = assistantId ?? (stackDepth === 0 ? turn.assistantId : undefined);
    if (named !== undefined) return assistants.get(named);
    return assistants.size === 1 ? [...assistants.values()][0] : undefined;
  }

  /** A frame that was assigned to an earlier life of this agent, or on a connection that went before it was heard. */
  async #adopt(named: AssignedFrame): Promise<void> {
    const { readInput, giveUp } = this.needs;
    if (this.#table.knows(named) || named.lastSeq > 0) return giveUp(named);
    try {
      const assignment = await readInput(named);
      // Without input it is a turn that an earlier life of this agent opened for itself.
      if (assignment.input.length === 0) throw new ChatError('not_found');
      this.#take(assignment, () => undefined);
    } catch {
      giveUp(named);
    }
  }

  #end(frame: HeldFrame, reason: string, error?: ChatError): void {
    this.#forget(frame);
    frame.end(reason, error);
  }

  #forget(frame: HeldFrame): void {
    this.#table.remove(frame);
    this.#assigned.delete(frame);
    this.needs.changed();
  }
}
