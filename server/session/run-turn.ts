import { NOT_PREPARED, prepareFrame } from './assignment.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { handOver, noAgent, withRefusing } from './frame-run.js';
import type { HostSlot } from './host.js';
import type { LiveTurn } from './live-turn.js';
import { patiently } from './patiently.js';
import { resumeSpace, supersededBy } from './resume-plan.js';

/** Running an attempt: its time has come, a host is found, it begins, the host takes over. */

/** Gives the next foreground turn its time, where the chat is free and turns may begin. */
export function advance(session: ChatSession): void {
  if (session.isDeleted || session.hasMoved || session.env.gate.refusal) return;
  const live = session.queue.advance();
  if (live) seekHost(session, live);
}

/** Waits for a host of the root frame (TRN-10), then begins the attempt. */
export function seekHost(session: ChatSession, live: LiveTurn, avoid: ReadonlySet<object> = new Set()): void {
  let cancel = (): void => undefined;
  live.state = { phase: 'waiting', cancel: () => cancel() };
  cancel = session.env.hosts.request({
    assistantId: live.turn.assistantId,
    tenantId: session.chat.tenantId,
    callers: [],
    avoid,
    granted: (place) => void begin(session, live, place, avoid),
    unavailable: () =>
      void endTurn(session, live, {
        status: 'failed',
        stopReason: 'agent_unavailable',
        error: noAgent(live.turn.assistantId),
      }),
  });
}

/** The attempt runs: from here on the journal knows of it (LIF-2), and it has so long to end (TRN-12). */
export function markRunning(session: ChatSession, live: LiveTurn): void {
  const { env } = session;
  live.state = { phase: 'running' };
  if (live.turn.status === 'running') return;
  live.turn = { ...live.turn, status: 'running', startedAt: session.now };
  live.isJournaled = true;
  session.recorder.note(live.key, ['begin', live.record]);
  env.metrics.turnsActive.inc();
  env.log.info(
    {
      chatId: session.chatId,
      requestId: live.requestId,
      attempt: live.turn.attempt,
      assistantId: live.turn.assistantId,
    },
    'turn started',
  );
  session.emit({ type: 'turn.started', requestId: live.requestId, turn: live.turn }, live);
  live.timeLimit = env.clock.after(
    env.settings.maxTurnMs,
    () => void endTurn(session, live, { status: 'interrupted', stopReason: 'timeout' }),
  );
}

async function begin(session: ChatSession, live: LiveTurn, place: HostSlot, avoid: ReadonlySet<object>): Promise<void> {
  const isFirst = live.turn.status !== 'running';
  if (isFirst && session.env.gate.isDraining) {
    // It stays stored as queued, and runs after the restart (LIF-1).
    place.giveBack();
    return;
  }
  markRunning(session, live);
  try {
    if (isFirst) await takeUp(session, live);
    await prepareFrame(session, live, live.root);
  } catch (error) {
    place.giveBack();
    session.env.log.error(
      { err: error, chatId: session.chatId, requestId: live.requestId },
      'an attempt could not be prepared',
    );
    void endTurn(session, live, { status: 'failed', stopReason: 'error', error: NOT_PREPARED });
    return;
  }
  if (!live.isRunning) {
    place.giveBack();
    return;
  }
  handOver(session, live, live.root, place, (refusing) => seekHost(session, live, withRefusing(avoid, refusing)));
}

/** What earlier attempts left: steps, space, and the messages that a new run replaces (TRN-9, TRN-11). */
async function takeUp(session: ChatSession, live: LiveTurn): Promise<void> {
  const { answersAnew } = live.needs;
  if (live.turn.attempt === 1 && answersAnew.length === 0) return;
  const { store } = session.env;
  const answersOf = (requestId: string) => store.getMessages(session.chatId, { requestId, role: 'assistant' });
  const [records, standing, replaced] = await patiently(session, () =>
    Promise.all([store.getSteps(live.requestId), answersOf(live.requestId), Promise.all(answersAnew.map(answersOf))]),
  );
  live.steps.restore(records, resumeSpace(records));
  live.standing = standing;
  const { steps, whole } = supersededBy(
    records.map(({ step }) => step),
    standing,
  );
  for (const [stepId, messageIds] of steps) live.superseded.addStep(stepId, messageIds);
  live.superseded.addWhole([...whole, ...replaced.flat().map(({ messageId }) => messageId)]);
  const going = new Set([...whole, ...[...steps.values()].flat()]);
  live.messages.standBeside(standing.filter(({ messageId }) => !going.has(messageId)));
}
