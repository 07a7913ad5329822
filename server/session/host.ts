import type { FrameOutcome } from '../../assistant/run-assistant.js';
import type { DelegateAnswer, DelegateCall } from '../../assistant/sink.js';
import type { Assignment } from '../../protocol/index.js';
import type { Frame, Holder } from './frame.js';

/** What one frame asks of another assistant (AGT-8). A caller that is not ours may leave the stack to the server. */
export type Call = Omit<DelegateCall, 'childStackId'> & { readonly childStackId?: string | undefined };

/** A frame as its host runs it. */
export interface FrameRun {
  readonly frame: Frame;
  readonly requestId: string;
  readonly attempt: number;
  readonly assignment: Assignment;
  /** The frames that wait for this one, by name. */
  readonly callers: readonly string[];
  /** Applies ops of the holder, all or none; resolves when more may come. @throws {ChatError} */
  apply(ops: readonly unknown[]): Promise<void>;
  /** Runs another assistant below this frame; resolves with how it ended. @throws {ChatError} see `openCall` */
  delegate(call: Call): Promise<DelegateAnswer>;
  /** The host has come to the end of the frame. */
  close(outcome: FrameOutcome): void;
  /** The host did not take the frame: another one shall. `by` is what is not asked again; null where nothing was asked. */
  refuse(by: object | null): void;
  /** The host is gone for good (AGT-4). */
  lose(): void;
}

/** A host that has a place free for one frame. The place is free again when the frame is done. */
export interface HostSlot {
  readonly holder: Holder;
  /** The frame will not begin after all. */
  giveBack(): void;
  /** Begins to run the frame. It never throws. */
  begin(run: FrameRun): void;
}

/** How hosts, and nodes among themselves, call a frame. */
export const frameName = (requestId: string, stackId: string): string => `${requestId} ${stackId}`;

/** One frame's wish for a host. */
export interface Wish {
  readonly assistantId: string;
  readonly tenantId: string | null;
  /** The frames that wait for this one, by name: none for a turn's root. */
  readonly callers: readonly string[];
  /** Connections that were offered the frame and did not take it. An agent that comes back by another is asked again. */
  readonly avoid: ReadonlySet<object>;
  granted(place: HostSlot): void;
  /** Nobody has served the assistant for `agentWaitMs` (TRN-10). */
  unavailable(): void;
}

export interface ListedAssistant {
  readonly assistantId: string;
  readonly name: string;
  readonly available: boolean;
}
