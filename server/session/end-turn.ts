import type { FrameOutcome } from '../../assistant/run-assistant.js';
import { addUsage } from '../../assistant/usage.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type Message,
  type StepStatus,
  type Turn,
} from '../../protocol/index.js';
import { settlesWithin } from '../clock.js';
import { supersede } from './apply-ops.js';
import type { ChatSession } from './chat-session.js';
import { Deferred } from './deferred.js';
import { eventEffects, type Effect } from './effect.js';
import type { EndedTurn, LiveTurn, Outcome } from './live-turn.js';
import { leafSteps } from './resume-plan.js';
import { storeAttempt } from './store-attempt.js';

/**
 * The one finaliser (TRN-6). Whatever ends an attempt ends it here, once: accept no more, flush, close open messages and
 * steps, write 2, `turn.ended`, and the next turn's time has come. Whoever asks again gets the same end.
 */
export function endTurn(session: ChatSession, live: LiveTurn, outcome: Outcome): Promise<EndedTurn> {
  const { state } = live;
  if (state.phase === 'ending') return state.done;
  if (state.phase === 'unsaved' || state.phase === 'ended') return Promise.resolve(state.end);
  if (state.phase === 'waiting') state.cancel();
  if (state.phase === 'queued') session.queue.remove(live);
  const done = new Deferred<EndedTurn>();
  live.state = { phase: 'ending', done: done.promise };
  live.timeLimit?.cancel();
  const turn = close(session, live, outcome);
  void store(session, live, turn).then(done.resolve, done.reject);
  return done.promise;
}

/**
 * Everything up to write 2, in one synchronous step: nothing of the attempt can come between.
 *
 * @returns the turn as its `turn.ended` will say; until then everybody reads it as it was (SUB-1)
 */
function close(session: ChatSession, live: LiveTurn, outcome: Outcome): Turn {
  const result: FrameOutcome = {
    status: outcome.status,
    output: null,
    error: outcome.status === 'completed' ? null : (outcome.error ?? null),
  };
  const reason = outcome.status === 'completed' ? 'completed' : outcome.stopReason;
  for (const frame of live.frames.values()) if (!frame.result) frame.abandon(result, reason);
  const begun = live.turn.status === 'running';
  if (begun) session.publish(closing(live, outcome), live);
  session.settle();
  if (begun) session.env.metrics.turnsActive.dec();
  session.env.metrics.turnsTotal.inc({ status: outcome.status });
  return endedTurn(live.turn, outcome, usageOf(live), session.now);
}

/** LIF-4: the attempt is another node's to end. Whoever runs a part of it here is told to stop; nothing is stored or told of it. */
export function abandonTurn(session: ChatSession, live: LiveTurn): void {
  const { state } = live;
  if (state.phase === 'waiting') state.cancel();
  live.timeLimit?.cancel();
  const result: FrameOutcome = { status: 'interrupted', output: null, error: null };
  for (const frame of live.frames.values()) if (!frame.result) frame.abandon(result, 'moved');
  if (live.isRunning) session.env.metrics.turnsActive.dec();
  if (state.phase === 'unsaved') session.env.gate.addUnsaved(-live.bytes);
  live.state = { phase: 'ended', end: { turn: live.turn, persisted: false } };
}

/** Open messages are closed, open steps get their last status; a completed turn replaces what it was to replace. */
function closing(live: LiveTurn, outcome: Outcome): Effect[] {
  const replaced = outcome.status === 'completed' ? supersede(live, live.superseded.takeWhole()) : [];
  return [...replaced, ...messagesClosed(live, outcome.status), ...stepsClosed(live, outcome.status)];
}

/** Open messages are final; a tool call that was cut off does not look as if it ran for ever. */
export function messagesClosed(
  live: LiveTurn,
  status: Outcome['status'],
  of: (message: Message) => boolean = () => true,
): Effect[] {
  const isCutOff = (message: Message): boolean =>
    status !== 'completed' && message.state === 'open' && message.type === 'tool_call' && of(message);
  const cutOff = [...live.messages.messages].filter(
    (message) => isCutOff(message) && message.props['state'] === 'running',
  );
  const marked = cutOff.flatMap(({ messageId }) => live.messages.markInterrupted(messageId));
  return eventEffects([...marked, ...live.messages.endAll(of)]);
}

/**
 * A step that was running when its turn completed is completed. Otherwise the leaves take the turn's status, and the
 * callers above them stay as they are: they go on when the leaf has run again (TRN-9).
 */
export function stepsClosed(
  live: LiveTurn,
  status: Outcome['status'],
  of: (stackId: string) => boolean = () => true,
): Effect[] {
  const running = live.steps.running().filter((step) => of(step.stackId));
  const leaves = new Set(leafSteps(live.stepRecords().map(({ step }) => step)).map((step) => step.stepId));
  return running
    .filter((step) => status === 'completed' || leaves.has(step.stepId))
    .flatMap((step): Effect[] => {
      const replaced = status === 'completed' ? supersede(live, live.superseded.takeForStep(step.stepId)) : [];
      const ended = live.steps.end({
        stepId: step.stepId,
        status: status satisfies StepStatus,
        output: step.output,
        error: step.error,
      });
      return [...replaced, ended];
    });
}

/** Tokens that completed model calls have recorded, for an attempt that could not say it at its close. */
function usageOf(live: LiveTurn): Json {
  return live.stepRecords().reduce<JsonObject | null>((sum, { step }) => {
    const { type, status, output } = step;
    if (type !== 'llm' || status !== 'completed' || !isJsonObject(output)) return sum;
    return addUsage(sum, output['usage'] ?? null);
  }, null);
}

function endedTurn(turn: Turn, outcome: Outcome, recordedUsage: Json, at: string): Turn {
  const isCompleted = outcome.status === 'completed';
  return {
    ...turn,
    status: outcome.status,
    stopReason: isCompleted ? null : outcome.stopReason,
    error: isCompleted ? null : (outcome.error ?? null),
    usage: outcome.usage ?? recordedUsage ?? turn.usage,
    endedAt: at,
  };
}

/** Write 2, then `turn.ended`; where the store does not take it in time, `turn.ended` first (TRN-7). */
async function store(session: ChatSession, live: LiveTurn, turn: Turn): Promise<EndedTurn> {
  const { clock, settings, metrics } = session.env;
  const began = clock.monotonic();
  const stored = storeAttempt(session, live, turn);
  const isStored = await settlesWithin(clock, stored, settings.commitRetryMs);
  if (isStored) metrics.commitSeconds.observe((clock.monotonic() - began) / 1000);
  live.turn = turn;
  const end: EndedTurn = { turn, persisted: isStored };
  const unsavedBytes = isStored ? 0 : live.bytes;
  if (!isStored) keepUnsaved(session, live, end, unsavedBytes);
  session.remember(live);
  if (isStored) finishStored(session, live, end);
  session.emit({ type: 'turn.ended', requestId: live.requestId, turn, persisted: isStored }, live);
  session.settle();
  const { attempt, status, stopReason } = turn;
  session.env.log.info(
    { chatId: session.chatId, requestId: live.requestId, attempt, status, stopReason, persisted: isStored },
    'turn ended',
  );
  session.queue.remove(live);
  session.turnOver();
  if (!isStored) {
    stored.then(
      () => savedLate(session, live, unsavedBytes),
      () => undefined, // the process ends: the journal keeps it
    );
  }
  return end;
}

function finishStored(session: ChatSession, live: LiveTurn, end: EndedTurn): void {
  live.state = { phase: 'ended', end };
  session.raiseActivity(live.messages.messages, end.turn.endedAt ?? session.now);
  session.releaseTurn(live, end);
  if (live.isJournaled) session.recorder.forget(live.key);
}

function keepUnsaved(session: ChatSession, live: LiveTurn, end: EndedTurn, bytes: number): void {
  const { gate, log } = session.env;
  live.state = { phase: 'unsaved', end };
  if (!live.isJournaled) session.recorder.note(live.key, ['begin', live.record]);
  live.isJournaled = true;
  session.recorder.note(live.key, ['end', end.turn]);
  gate.addUnsaved(bytes);
  log.error({ chatId: session.chatId, requestId: live.requestId }, 'a turn has ended and could not be stored yet');
}

function savedLate(session: ChatSession, live: LiveTurn, bytes: number): void {
  if (live.state.phase !== 'unsaved') return;
  const { end } = live.state;
  if (!session.isDeleted) session.emit({ type: 'turn.persisted', requestId: live.requestId });
  finishStored(session, live, { ...end, persisted: true });
  session.env.gate.addUnsaved(-bytes);
  session.turnOver();
}
