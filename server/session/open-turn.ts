import { ChatError, type AgentArgs, type AgentResult } from '../../protocol/index.js';
import type { TurnRecord } from '../ports/store.js';
import { chatIdTaken, isInTenant } from './access.js';
import type { AgentDirectory } from './agent-directory.js';
import type { AgentConnection } from './attached-agent.js';
import { NOT_PREPARED, prepareFrame } from './assignment.js';
import type { ChatSession } from './chat-session.js';
import { newChat } from './new-chat.js';
import { endTurn } from './end-turn.js';
import type { Environment } from './environment.js';
import { fingerprint } from './fingerprint.js';
import { frameRun } from './frame-run.js';
import type { LiveTurn } from './live-turn.js';
import { markRunning } from './run-turn.js';
import type { Sessions } from './sessions.js';
import { announce, newTurn, storeBegin } from './begin-turn.js';
import { mustHaveRoom } from './must-have-room.js';
import { recordOf } from './turn-record.js';

/**
 * Opens a background turn that no person started; the agent holds it from the beginning (section 6).
 *
 * @throws {ChatError} `forbidden` for an assistant that it has not attached; `not_found` outside its tenant
 */
export async function openTurn(
  env: Environment,
  sessions: Sessions,
  agents: AgentDirectory,
  connection: AgentConnection,
  args: AgentArgs<'turn:open'>,
): Promise<AgentResult<'turn:open'>> {
  const agent = agents.of(connection);
  if (!agent.offer.assistants.some(({ assistantId }) => assistantId === args.assistantId)) {
    throw new ChatError('forbidden', `Attach ${args.assistantId} first.`);
  }
  const { tenantId } = connection.identity;
  const openIn = (session: ChatSession, isNew: boolean) =>
    session.commands.run(() =>
      open(env, agents, connection, args, session, isNew ? () => sessions.keep(session) : null),
    );

  const chat = await sessions.chat(args.chatId);
  // Not one chat is taken into memory for an agent of another tenant.
  if (chat && !isInTenant(chat, connection.identity))
    throw args.createChat ? chatIdTaken() : new ChatError('not_found');
  const session = chat && (await sessions.open(args.chatId));
  if (session) return openIn(session, false);
  const { createChat } = args;
  if (!createChat) throw new ChatError('not_found');
  const opened = await sessions.exclusively(args.chatId, async () => {
    // Another command has created it meanwhile, this very one perhaps.
    if (await sessions.chat(args.chatId)) return null;
    if (await env.store.isChatIdTaken(args.chatId)) throw chatIdTaken();
    const { createdBy, teamId = null, ...draft } = createChat;
    const created = await newChat(
      env,
      args.chatId,
      { assistantId: args.assistantId, ...draft },
      { userId: createdBy, teamId, tenantId },
    );
    const begun = sessions.begin(created);
    try {
      return await openIn(begun, true);
    } catch (error) {
      if (sessions.get(args.chatId) !== begun) begun.close();
      throw error;
    }
  });
  return opened ?? openTurn(env, sessions, agents, connection, args);
}

async function open(
  env: Environment,
  agents: AgentDirectory,
  connection: AgentConnection,
  args: AgentArgs<'turn:open'>,
  session: ChatSession,
  keep: (() => void) | null,
): Promise<AgentResult<'turn:open'>> {
  session.mustExist();
  const agent = agents.of(connection);
  const requestId = args.requestId ?? env.ids.id();
  const repeated = await recordOf(session, requestId);
  if (repeated) {
    if (repeated.openedBy !== agent.key || repeated.turn.chatId !== session.chatId)
      throw new ChatError('idempotency_conflict');
    return { turn: repeated.turn, attempt: repeated.turn.attempt, stackId: repeated.rootStackId };
  }
  const { refusal } = env.gate;
  if (refusal) throw refusal;
  mustHaveRoom(session, 'parallel');
  const turn = newTurn(
    session,
    { requestId, background: true, createdBy: connection.identity.userId },
    undefined,
    args,
  );
  const record: TurnRecord = {
    turn,
    fingerprint: fingerprint(args),
    rootStackId: env.ids.id(),
    regenerates: null,
    openedBy: agent.key,
  };
  await storeBegin(session, record, [], { newChat: keep ? session.chat : null });
  keep?.();
  const live = announce(session, record, { input: [], answersAnew: [] });
  if (env.gate.isDraining) {
    // It does not begin, as no other does from now on (LIF-1). Queued it cannot stay: nobody else would run it.
    void endTurn(session, live, { status: 'interrupted', stopReason: 'shutdown' });
  } else {
    markRunning(session, live);
    // Its connection may have gone meanwhile: the agent holds the turn all the same, and loses it as any other (AGT-4).
    const held = agents.open(agent);
    live.root.holder = held.holder;
    held.begin(frameRun(session, live, live.root, held.holder));
    await prepare(session, live);
  }
  if (live.isRunning) return { turn: live.turn, attempt: turn.attempt, stackId: record.rootStackId };
  const end = await endTurn(session, live, { status: 'interrupted', stopReason: 'stopped' });
  return { turn: end.turn, attempt: turn.attempt, stackId: record.rootStackId };
}

/** What `turn:input` gives. A turn that cannot be prepared ends. @throws {ChatError} `storage_unavailable` */
async function prepare(session: ChatSession, live: LiveTurn): Promise<void> {
  try {
    await prepareFrame(session, live, live.root);
  } catch (error) {
    void endTurn(session, live, { status: 'failed', stopReason: 'error', error: NOT_PREPARED });
    throw error;
  }
}
