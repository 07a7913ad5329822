import { isEnded, type ChatEvent, type Message, type Step, type Turn } from '../../../../protocol/index.js';
import { requestIdOf } from '../log/entry.js';

/** From when to when something ran, milliseconds since 1970; `to` is null while it does. */
export interface Span {
  readonly from: number;
  readonly to: number | null;
}

export interface Attempt extends Span {
  readonly attempt: number;
  readonly status: Turn['status'];
  readonly stopReason: Turn['stopReason'];
}

export interface StepSpan extends Span {
  readonly status: Step['status'];
}

/** When the things of a turn happened. */
export interface TurnStory {
  /** From the accepted input until the first attempt began; null: it was not seen to wait. */
  readonly waited: Span | null;
  /** Those that the log tells of, and the newest one. */
  readonly attempts: readonly Attempt[];
  /** By stepId; one that ran again in a later attempt has several. */
  readonly steps: ReadonlyMap<string, readonly StepSpan[]>;
  /** By messageId. */
  readonly messages: ReadonlyMap<string, Span>;
  /** From the start of the newest attempt until the first text or message of its assistant; null where it cannot be known. */
  readonly firstOutputMs: number | null;
}

const ms = (time: string): number => Date.parse(time);

/**
 * Puts together what the log tells of a turn's times, and what its rows say where the log does not reach. Rows know one
 * beginning and one last change of each thing: the log knows each run.
 */
export function turnStory(
  turn: Turn,
  steps: readonly Step[],
  messages: readonly Message[],
  events: readonly ChatEvent[],
): TurnStory {
  const own = events.filter((event) => isOf(event, turn.requestId, messages));
  const attempts = attemptsOf(turn, own);
  const newest = attempts.at(-1);
  const first = own.find((event) => newest && ms(event.at) >= newest.from && isOutput(event));
  const waited =
    turn.startedAt !== null && turn.attempt === 1 ? { from: ms(turn.createdAt), to: ms(turn.startedAt) } : null;
  return {
    waited: waited && waited.to > waited.from ? waited : null,
    attempts,
    steps: stepSpans(steps, own, endOf(turn)),
    messages: messageSpans(messages, own),
    firstOutputMs: first && newest ? ms(first.at) - newest.from : null,
  };
}

function isOf(event: ChatEvent, requestId: string, messages: readonly Message[]): boolean {
  const known = requestIdOf(event);
  if (known !== null) return known === requestId;
  return 'messageId' in event && messages.some(({ messageId }) => messageId === event.messageId);
}

function isOutput(event: ChatEvent): boolean {
  if (event.type === 'message.appended') return event.text !== '';
  return (
    event.type === 'message.created' && event.message.role === 'assistant' && event.message.props['content'] !== ''
  );
}

function attemptsOf(turn: Turn, events: readonly ChatEvent[]): readonly Attempt[] {
  const attempts = new Map<number, Attempt>();
  for (const event of events) {
    if (event.type !== 'turn.started' && event.type !== 'turn.ended') continue;
    const { attempt, status, stopReason, startedAt } = event.turn;
    const isStart = event.type === 'turn.started';
    const from = attempts.get(attempt)?.from ?? ms(isStart ? event.at : (startedAt ?? event.at));
    attempts.set(attempt, { attempt, from, to: isStart ? null : ms(event.at), status, stopReason });
  }
  const newest = newestAttempt(turn, attempts.get(turn.attempt));
  if (newest) attempts.set(turn.attempt, newest);
  return [...attempts.values()].sort((a, b) => a.attempt - b.attempt);
}

/** As the turn's row tells of it, where the log does not tell all. */
function newestAttempt(turn: Turn, told: Attempt | undefined): Attempt | null {
  const { attempt, startedAt, status, stopReason } = turn;
  const to = endOf(turn);
  if (startedAt === null || (told && (told.to !== null || to === null))) return null;
  return { attempt, from: told?.from ?? ms(startedAt), to, status, stopReason };
}

/** Null while it runs or waits. */
function endOf({ status, endedAt, startedAt, createdAt }: Turn): number | null {
  return isEnded(status) ? ms(endedAt ?? startedAt ?? createdAt) : null;
}

function stepSpans(
  steps: readonly Step[],
  events: readonly ChatEvent[],
  turnEnd: number | null,
): ReadonlyMap<string, readonly StepSpan[]> {
  const spans = new Map<string, StepSpan[]>();
  for (const event of events) {
    if (event.type !== 'step.started' && event.type !== 'step.ended') continue;
    const { stepId, status, createdAt } = event.step;
    const runs = spans.get(stepId) ?? [];
    spans.set(stepId, runs);
    const last = runs.at(-1);
    if (event.type === 'step.started') runs.push({ from: ms(event.at), to: null, status });
    else if (!last) runs.push({ from: ms(createdAt), to: ms(event.at), status });
    // What is added to its metadata after its end is told as another end.
    else runs[runs.length - 1] = { ...last, to: last.to ?? ms(event.at), status };
  }
  for (const step of steps) {
    const runs = spans.get(step.stepId) ?? [{ from: ms(step.createdAt), to: null, status: step.status }];
    const last = runs.at(-1);
    // What the end of an attempt left running has no event of its own.
    if (last?.to === null) runs[runs.length - 1] = { ...last, to: stepEnd(step, turnEnd), status: step.status };
    spans.set(step.stepId, runs);
  }
  return spans;
}

const stepEnd = ({ status, updatedAt }: Step, turnEnd: number | null): number | null =>
  status === 'running' || status === 'pending' ? turnEnd : ms(updatedAt);

function messageSpans(messages: readonly Message[], events: readonly ChatEvent[]): ReadonlyMap<string, Span> {
  const closed = new Map<string, number>();
  for (const event of events) if (event.type === 'message.closed') closed.set(event.messageId, ms(event.at));
  return new Map(
    messages.map(({ messageId, createdAt, updatedAt, state }) => [
      messageId,
      { from: ms(createdAt), to: closed.get(messageId) ?? (state === 'open' ? null : ms(updatedAt)) },
    ]),
  );
}
