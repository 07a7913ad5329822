import { ChatError, type Assignment, type TurnError } from '../../protocol/index.js';
import type { FrameOutcome } from '../../assistant/run-assistant.js';
import type { DelegateAnswer } from '../../assistant/sink.js';
import { applyOps } from './apply-ops.js';
import { NOT_PREPARED, prepareFrame } from './assignment.js';
import { answerOf, childFrame } from './call.js';
import type { ChatSession } from './chat-session.js';
import { endCall, endUnwanted } from './end-call.js';
import { endTurn } from './end-turn.js';
import type { Frame, Holder } from './frame.js';
import { frameName, type Call, type FrameRun, type HostSlot } from './host.js';
import type { EndedTurn, LiveTurn, Outcome } from './live-turn.js';

/** A frame in the hands of its host: what is taken from it, and how it ends. */

export const noAgent = (assistantId: string): TurnError => ({
  code: 'agent_unavailable',
  message: `No agent serves ${assistantId} at present.`,
});

/** The host runs the frame from now on. */
export function handOver(
  session: ChatSession,
  live: LiveTurn,
  frame: Frame,
  place: HostSlot,
  again: (refusing: object | null) => void,
): void {
  frame.holder = place.holder;
  place.begin(frameRun(session, live, frame, place.holder, again));
}

/** By name, the nearest first. */
function callersOf(live: LiveTurn, frame: Frame): string[] {
  const callers: string[] = [];
  for (let { stackParentId } = frame.place; stackParentId !== null;) {
    callers.push(frameName(live.requestId, stackParentId));
    stackParentId = live.frames.get(stackParentId)?.place.stackParentId ?? null;
  }
  return callers;
}

const APPLIED = Promise.resolve();

/** A frame as its host sees it: whatever comes once another holds it, or it has ended, is refused. */
export function frameRun(
  session: ChatSession,
  live: LiveTurn,
  frame: Frame,
  holder: Holder,
  again: (refusing: object | null) => void = () => undefined,
): FrameRun {
  const isMine = (): boolean => frame.holder === holder && !frame.result;
  return {
    frame,
    requestId: live.requestId,
    attempt: live.turn.attempt,
    // Null only for a turn that its agent opened: nobody assigns that frame.
    assignment: frame.assignment as Assignment,
    callers: callersOf(live, frame),
    // Not async: most ops are tokens, and a promise more for each of them is a tenth of what a token costs.
    apply: (ops) => {
      try {
        if (!isMine()) throw new ChatError('turn_ended');
        pushOps(session, live, frame, ops);
      } catch (error) {
        const refused = Promise.reject<void>(error instanceof Error ? error : new Error(String(error)));
        // An assistant that does not wait for what it does must not end the process.
        refused.catch(() => undefined);
        return refused;
      }
      const { journal, pump } = session.env;
      return journal.healthy ? (pump.waiting ?? APPLIED) : journal.writable();
    },
    delegate: async (call) => {
      if (!isMine() || !live.isRunning) throw new ChatError('turn_ended');
      return openCall(session, live, frame, call);
    },
    close: (outcome) => {
      if (isMine()) void closeFrame(session, live, frame, outcome);
    },
    refuse: (by) => {
      if (!isMine()) return;
      holder.abort('reassigned');
      frame.holder = null;
      again(by);
    },
    lose: () => {
      if (!isMine()) return;
      if (frame.isRoot) void endTurn(session, live, { status: 'interrupted', stopReason: 'agent_lost' });
      else
        endCall(session, live, frame, {
          status: 'interrupted',
          output: null,
          error: { code: 'agent_lost', message: 'The agent went away.' },
        });
    },
  };
}

/** Those who are not asked again. */
export const withRefusing = (avoid: ReadonlySet<object>, refusing: object | null): ReadonlySet<object> =>
  refusing ? new Set([...avoid, refusing]) : avoid;

/** Applies ops of a frame and publishes what they lead to, in one synchronous step. @throws {ChatError} */
export function pushOps(session: ChatSession, live: LiveTurn, frame: Frame, ops: readonly unknown[]): void {
  if (!live.isRunning || frame.result) throw new ChatError('turn_ended');
  const unwanted: string[] = [];
  const effects = applyOps(
    {
      live,
      frame,
      now: session.now,
      newId: () => session.env.ids.id(),
      nextSequence: (undo) => session.sequences.take(undo),
      isHeld: (messageId) => session.holds(messageId),
      unwanted: (stackId) => void unwanted.push(stackId),
    },
    ops,
  );
  session.publish(effects, live);
  for (const stackId of unwanted) endUnwanted(session, live, stackId);
  // Who hears that a step has completed may rely on it: what it did is not done twice.
  if (effects.some((effect) => effect.kind === 'step' && effect.body.type === 'step.ended')) session.env.pump.flush();
}

/** The host has come to the end: of the turn, or of a call within it. */
export function closeFrame(
  session: ChatSession,
  live: LiveTurn,
  frame: Frame,
  outcome: FrameOutcome,
): Promise<EndedTurn> | null {
  if (!frame.isRoot) {
    endCall(session, live, frame, outcome);
    return null;
  }
  frame.finish(outcome);
  return endTurn(session, live, outcomeOf(outcome));
}

function outcomeOf({ status, error, usage }: FrameOutcome): Outcome {
  const more = usage === undefined ? {} : { usage };
  if (status === 'completed') return { status, ...more };
  return { status, stopReason: status === 'failed' ? 'error' : 'stopped', error, ...more };
}

/**
 * Runs another assistant below a frame, on any host that serves it (AGT-8). Resolves with how that ended; what is wrong
 * with the call itself is thrown at once.
 *
 * @throws {ChatError} `bad_request`: too deep, or a stack id in use; `queue_full`: too many open calls; `payload_too_large`
 */
export function openCall(session: ChatSession, live: LiveTurn, caller: Frame, call: Call): Promise<DelegateAnswer> {
  const child = childFrame(session, live, caller, call);
  seekChildHost(session, live, child, new Set());
  return child.done.promise.then((outcome) => answerOf(live, child, outcome));
}

function seekChildHost(session: ChatSession, live: LiveTurn, child: Frame, avoid: ReadonlySet<object>): void {
  const cancel = session.env.hosts.request({
    assistantId: child.place.assistantId,
    tenantId: session.chat.tenantId,
    callers: callersOf(live, child),
    avoid,
    granted: (place) => void beginChild(session, live, child, place, avoid),
    unavailable: () =>
      endCall(session, live, child, { status: 'failed', output: null, error: noAgent(child.place.assistantId) }),
  });
  void child.done.promise.then(cancel);
}

async function beginChild(
  session: ChatSession,
  live: LiveTurn,
  child: Frame,
  place: HostSlot,
  avoid: ReadonlySet<object>,
): Promise<void> {
  try {
    await prepareFrame(session, live, child);
  } catch {
    endCall(session, live, child, { status: 'failed', output: null, error: NOT_PREPARED });
  }
  if (child.result) {
    place.giveBack();
    return;
  }
  handOver(session, live, child, place, (refusing) =>
    seekChildHost(session, live, child, withRefusing(avoid, refusing)),
  );
}
