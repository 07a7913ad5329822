import {
  ChatError,
  tooLarge,
  type AgentArgs,
  type AgentCommandName,
  type AgentResult,
  type Assignment,
  type JsonObject,
} from '../../../protocol/index.js';
import { isInTenant, mustServe } from '../access.js';
import type { AgentDirectory } from '../agent-directory.js';
import type { AgentConnection } from '../attached-agent.js';
import type { ChatSession } from '../chat-session.js';
import type { Environment } from '../environment.js';
import type { Frame } from '../frame.js';
import { closeFrame, openCall, pushOps } from '../frame-run.js';
import type { EndedAttempt, LiveTurn } from '../live-turn.js';
import { jsonBytes } from '../message-buffer.js';
import { openTurn } from '../open-turn.js';
import { readPage } from '../read-messages.js';
import type { Sessions } from '../sessions.js';

/** The commands that act on frames and chats; `auth:refresh` acts on the connection that sent it. */
export type AgentDeskCommand = Exclude<AgentCommandName, 'auth:refresh'>;

/**
 * Where agents' commands arrive in the domain (section 6). Ops are applied before a handler first waits. The right that
 * the table names (ACC-3) is checked by what finds that which the command is about: `numbered` and `assignmentHeld` for `hold`,
 * `chatWorkedIn` for `work`, `openTurn` for `open`, `mustServe` for `serve`.
 */
export interface AgentDesk {
  run<N extends AgentDeskCommand>(name: N, connection: AgentConnection, args: AgentArgs<N>): Promise<AgentResult<N>>;
  /** Its identity has changed: it is given no more frames of assistants that it may not serve any longer (ACC-4). */
  renewed(connection: AgentConnection): void;
  disconnected(connection: AgentConnection): void;
}

type Handlers = {
  readonly [N in AgentDeskCommand]: (connection: AgentConnection, args: AgentArgs<N>) => Promise<AgentResult<N>>;
};

type FrameName = { readonly requestId: string; readonly attempt: number; readonly stackId?: string | undefined };

/** A frame that the caller holds, in a turn that runs. */
interface WritableFrame {
  readonly session: ChatSession;
  readonly live: LiveTurn;
  readonly frame: Frame;
}

/** What a numbered command of a frame meets: it is the next one, or it was taken before and its answer stands. */
type Numbered<T> = { readonly held: WritableFrame } | { readonly answer: Promise<T> };

export function createAgentDesk(env: Environment, sessions: Sessions, agents: AgentDirectory): AgentDesk {
  /**
   * AGT-1 and AGT-3 for one numbered command.
   *
   * @throws {ChatError} `stale_attempt`, `turn_ended` (both with the frame's `turn:abort`), `seq_gap`, `not_found`
   */
  function numbered<T>(connection: AgentConnection, name: FrameName & { readonly seq: number }): Numbered<T> {
    const session = sessions.ofTurn(name.requestId);
    const live = session?.turns.get(name.requestId);
    const kept = live ?? session?.ended.get(name.requestId);
    if (!session || !kept) return { answer: absent(connection, name) };
    if (!isInTenant(session.chat, connection.identity)) throw new ChatError('not_found');
    const frame = frameNamed(connection, kept, name);
    mustHold(connection, frame, name);
    if (name.seq <= frame.lastSeq)
      return { answer: (frame.answers.get(name.seq) ?? Promise.resolve({ seq: name.seq })) as Promise<T> };
    if (frame.result || !live?.isRunning) throw abortBy(connection, { ...name, stackId: frame.stackId }, 'turn_ended');
    const expected = frame.lastSeq + 1;
    if (name.seq !== expected)
      throw new ChatError('seq_gap', `The next seq is ${expected}.`, { details: { expected } });
    return { held: { session, live, frame } };
  }

  /** A turn that is not in memory has ended long ago, or never was. @throws {ChatError} always */
  async function absent(connection: AgentConnection, name: FrameName): Promise<never> {
    const record = await env.store.getTurn(name.requestId);
    const chat = record && (await sessions.chat(record.turn.chatId));
    if (!chat || !isInTenant(chat, connection.identity)) throw new ChatError('not_found');
    throw abortBy(connection, { stackId: record?.rootStackId, ...name }, 'turn_ended');
  }

  /** The frame of the running attempt. @throws {ChatError} `stale_attempt`, `bad_request`, `not_found` */
  function frameNamed(connection: AgentConnection, kept: EndedAttempt, name: FrameName): Frame {
    const { attempt } = kept.turn;
    if (name.attempt < attempt)
      throw abortBy(connection, { ...name, stackId: name.stackId ?? rootOf(kept.frames) }, 'stale_attempt');
    if (name.attempt > attempt)
      throw new ChatError('bad_request', `The attempt is ${attempt}.`, {
        details: { path: 'attempt', expected: attempt },
      });
    const frame = kept.frames.get(name.stackId ?? rootOf(kept.frames));
    if (!frame) throw new ChatError('not_found', 'There is no such frame in this turn.');
    return frame;
  }

  /** @throws {ChatError} `stale_attempt`, `turn_ended` to all but the holder */
  function mustHold(connection: AgentConnection, frame: Frame, name: FrameName): void {
    const agent = agents.find(connection);
    if (agent && frame.holder?.key === agent) return;
    throw abortBy(connection, { ...name, stackId: frame.stackId }, frame.result ? 'turn_ended' : 'stale_attempt');
  }

  /** Takes the seq and keeps the answer for a repetition. */
  function answered<T>({ frame }: WritableFrame, seq: number, answer: Promise<T>): Promise<T> {
    frame.lastSeq = seq;
    frame.answers.set(seq, answer);
    answer.catch(() => undefined);
    return answer;
  }

  const spaceOf = (requestId: string): JsonObject =>
    sessions.ofTurn(requestId)?.turns.get(requestId)?.steps.space() ?? {};

  /** What the holder of a frame was given. @throws {ChatError} `not_found` for any other */
  function assignmentHeld(connection: AgentConnection, { requestId, stackId }: AgentArgs<'turn:input'>): Assignment {
    const runs = agents.of(connection).runs();
    const run = runs.find(
      ({ frame, requestId: held }) =>
        held === requestId && (stackId === undefined ? frame.isRoot : frame.stackId === stackId),
    );
    if (!run?.frame.assignment) throw new ChatError('not_found');
    return run.frame.assignment;
  }

  /** The chat of a turn that the agent runs. @throws {ChatError} `not_found` for any other */
  async function chatWorkedIn(connection: AgentConnection, chatId: string): Promise<ChatSession> {
    const agent = agents.of(connection);
    const session = sessions.get(chatId);
    const holds = agent.runs().some(({ requestId }) => session?.turns.has(requestId) ?? false);
    if (!session || !holds) throw new ChatError('not_found');
    return session;
  }

  const handlers: Handlers = {
    'agent:attach': async (connection, args) => {
      mustServe(connection.identity, args.assistants);
      const agent = agents.attach(connection, args);
      return {
        assigned: agent.runs().map(({ requestId, attempt, frame }) => ({
          requestId,
          attempt,
          stackId: frame.stackId,
          lastSeq: frame.lastSeq,
        })),
      };
    },

    'turn:open': (connection, args) => openTurn(env, sessions, agents, connection, args),

    'turn:push': async (connection, args) => {
      const met = numbered<{ seq: number }>(connection, args);
      if ('answer' in met) return met.answer;
      const { session, live, frame } = met.held;
      pushOps(session, live, frame, args.ops);
      frame.lastSeq = args.seq;
      await env.journal.writable();
      await env.pump.waiting;
      return { seq: args.seq };
    },

    'turn:close': async (connection, args) => {
      const met = numbered<AgentResult<'turn:close'>>(connection, args);
      if ('answer' in met) return met.answer;
      const { session, live, frame } = met.held;
      const { status, output = null, error = null, usage } = args;
      if (!frame.isRoot) keepAnswer(live, { output, error });
      const end = closeFrame(session, live, frame, {
        status,
        output,
        error,
        ...(usage === undefined ? {} : { usage }),
      });
      return answered<AgentResult<'turn:close'>>(
        met.held,
        args.seq,
        end ?? Promise.resolve({ stackId: frame.stackId, status }),
      );
    },

    'turn:delegate': async (connection, args) => {
      const met = numbered<Omit<AgentResult<'turn:delegate'>, 'space'>>(connection, args);
      // The space is the turn's: whoever asks again is given it as it is now, and no copy stays with each answer.
      if ('answer' in met) return { ...(await met.answer), space: spaceOf(args.requestId) };
      const { session, live, frame } = met.held;
      const answer = openCall(session, live, frame, args);
      const kept = answer.then(({ space: _space, ...ended }) => {
        // Kept for a repetition; there was room for them while the call was open.
        live.answerBytes += jsonBytes(ended.messages);
        return ended;
      });
      return { ...(await answered(met.held, args.seq, kept)), space: (await answer).space };
    },

    'turn:input': async (connection, args) => assignmentHeld(connection, args),

    'message:list': async (connection, args) => readPage(await chatWorkedIn(connection, args.chatId), args),
    'chat:get': async (connection, args) => ({ chat: (await chatWorkedIn(connection, args.chatId)).chat }),
  };

  return {
    run: (name, connection, args) => handlers[name](connection, args),
    renewed: (connection) => agents.renewed(connection),
    disconnected: (connection) => agents.disconnected(connection),
  };
}

function rootOf(frames: ReadonlyMap<string, Frame>): string {
  for (const frame of frames.values()) if (frame.isRoot) return frame.stackId;
  return '';
}

/** The refusal of one who holds the frame no more, who is told to stop as well. */
function abortBy(
  connection: AgentConnection,
  { requestId, attempt, stackId = '' }: FrameName,
  code: 'stale_attempt' | 'turn_ended',
): ChatError {
  connection.abort({ requestId, attempt, stackId, reason: code });
  return new ChatError(code);
}

/** What a call is answered stays for one who asks again (AGT-1): it counts as the turn's. @throws {ChatError} `payload_too_large` */
function keepAnswer(live: LiveTurn, answer: JsonObject): void {
  const bytes = jsonBytes(answer);
  const { maxTurnBytes } = live.needs.limits;
  if (bytes > live.room) throw tooLarge('maxTurnBytes', maxTurnBytes);
  live.answerBytes += bytes;
}
