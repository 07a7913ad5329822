import type { AgentResult, InputMessage, OpInput } from '../protocol/index.js';

/** What one assistant asks of another. */
export interface DelegateCall {
  readonly assistantId: string;
  readonly input: readonly InputMessage[];
  /** The same in every attempt, so that the called assistant goes on where it was (TRN-9). */
  readonly childStackId: string;
  /** Whether what it sends is shown and stored; otherwise the answer alone carries it. */
  readonly show: boolean;
}

/** How the other one ended, and what its caller needs of it: output, usage, the space, and messages that were not shown. */
export type DelegateAnswer = AgentResult<'turn:delegate'>;

/**
 * Where what an assistant does goes: into the turn's buffer in-process, or over the wire from an agent. Both take ops and
 * calls in the order in which they are made.
 */
export interface Sink {
  /**
   * Takes the ops when it is called; its promise resolves when more may come (AGT-6).
   *
   * @throws {ChatError} a refused op; nothing of these ops was applied
   */
  push(ops: readonly OpInput[]): Promise<void>;
  /** Runs another assistant wherever it is hosted (AGT-8); resolves when it has ended. @throws {ChatError} a refused call */
  delegate(call: DelegateCall): Promise<DelegateAnswer>;
}
