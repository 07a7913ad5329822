import { ChatError, idBelow, MAX_OPEN_CALLS, SAID, tooLarge, type Message } from '../../protocol/index.js';
import type { FrameOutcome } from '../../assistant/run-assistant.js';
import type { DelegateAnswer } from '../../assistant/sink.js';
import type { ChatSession } from './chat-session.js';
import { Frame } from './frame.js';
import type { Call } from './host.js';
import { inputRow } from './input-row.js';
import type { LiveTurn } from './live-turn.js';
import { jsonBytes, MessageBuffer } from './message-buffer.js';
import { depthBelow } from './step-recorder.js';

/** What the frame of a call takes beside its messages and its answer. A round figure. */
const CALL_OVERHEAD_BYTES = 1024;

/**
 * The frame of a call, counted while it is open.
 *
 * @throws {ChatError} `bad_request`: too deep, or a stack id in use; `queue_full`: too many open calls; `payload_too_large`
 */
export function childFrame(session: ChatSession, live: LiveTurn, caller: Frame, call: Call): Frame {
  const child = childOf(session, live, caller, call);
  keepCall(live, child);
  return child;
}

/** What the caller is told once the frame has ended. */
export function answerOf(live: LiveTurn, child: Frame, outcome: FrameOutcome): DelegateAnswer {
  const own = child.aside && child.aside !== callerOf(live, child)?.aside ? child.aside : null;
  if (own) live.aside.delete(own);
  const { usage = null } = outcome;
  const messages = [...(own?.messages ?? [])];
  return { stackId: child.stackId, ...outcome, usage, space: live.steps.space(), messages };
}

const callerOf = (live: LiveTurn, child: Frame): Frame | undefined => live.frames.get(child.place.stackParentId ?? '');

function childOf(session: ChatSession, live: LiveTurn, caller: Frame, call: Call): Frame {
  const { ids } = session.env;
  const stackId = call.childStackId ?? ids.id();
  const stackDepth = depthBelow(caller.place, 'assistantId');
  const known = live.steps.place(stackId);
  if (live.frames.has(stackId) || (known && known.stackParentId !== caller.stackId)) {
    throw new ChatError('bad_request', 'This stack id is in use.', { details: { path: 'childStackId' } });
  }
  // Input of a call is shown to nobody, and stored only where a step records it.
  const input = call.input.map((draft, index) =>
    inputRow(live.turn, draft, {
      // The same in every attempt: a step whose input it is must be known again.
      messageId: idBelow(stackId, `input-${index + 1}`),
      sequence: index + 1,
      at: live.turn.createdAt,
    }),
  );
  const place = { stackId, stackParentId: caller.stackId, stackDepth, assistantId: call.assistantId };
  // What a hidden frame delegates to is as hidden, and its caller is answered all of it.
  return new Frame(place, input, call.show ? caller.aside : asideOf(live, stackId));
}

/** Where a call that is not shown sends to: what its completed steps had sent in earlier attempts stands there already. */
function asideOf(live: LiveTurn, stackId: string): MessageBuffer {
  const buffer = new MessageBuffer(live.needs.limits);
  const stacks = live.stacksBelow(stackId);
  for (const { step } of live.stepRecords()) {
    const said = stacks.has(step.stackId) ? (step.metadata?.[SAID] as Message[] | undefined) : undefined;
    for (const message of said ?? []) buffer.restore({ ...message, state: 'closed', sequence: buffer.size + 1 });
  }
  return buffer;
}

/** Counts a call while it is open. */
function keepCall(live: LiveTurn, child: Frame): void {
  const open = [...live.frames.values()].filter((frame) => !frame.isRoot && !frame.result);
  if (open.length >= MAX_OPEN_CALLS) {
    throw new ChatError('queue_full', undefined, { details: { limit: 'maxOpenCalls', max: MAX_OPEN_CALLS } });
  }
  const bytes = jsonBytes([...child.input]);
  if (bytes + CALL_OVERHEAD_BYTES > live.room) throw tooLarge('maxTurnBytes', live.needs.limits.maxTurnBytes);
  // Its frame stays for whoever repeats himself, until the turn is forgotten.
  live.answerBytes += CALL_OVERHEAD_BYTES;
  live.callBytes += bytes;
  if (child.aside) live.aside.add(child.aside);
  void child.done.promise.then(() => (live.callBytes -= bytes));
  live.addFrame(child);
}
