import { Router, type Request, type RequestHandler } from 'express';
import {
  connectInput,
  inputOf,
  knownIds,
  newsOf,
  runAgentInput,
  sentId,
  speaksOne,
  stopInput,
  turnMetadata,
  type RunAgentInput,
} from '../../../protocol/ag-ui/index.js';
import {
  assistantId,
  ChatError,
  parse,
  type Message,
  type Result,
  type Step,
  type StepSummary,
} from '../../../protocol/index.js';
import type { Caller } from '../caller.js';
import type { Dispatch } from '../dispatch.js';
import type { Callers } from '../http/callers.js';
import { answerOtherMethods } from '../http/errors.js';
import { takeBody } from '../http/json-body.js';
import { SNAPSHOT_MESSAGES, type TurnStreams } from '../http/turn-streams.js';
import { AG_UI_ROUTES, type AgUiDeed } from './described.js';
import { AgUiForm } from './form.js';

export interface AgUiNeeds {
  readonly dispatch: Dispatch;
  readonly callers: Callers;
  readonly turnStreams: TurnStreams;
}

/**
 * AG-UI over chats: a thread is a chat, a run is a turn.
 *
 * - `POST /v1/ag-ui` runs: it says what the chat does not know yet and tells the turn that answers; a run that there is
 *   already is joined.
 * - `POST /v1/ag-ui/connect` joins the run that is under way, or shows the conversation.
 * - `POST /v1/ag-ui/stop` stops a run. Nothing else does: a client that leaves only leaves.
 *
 * Each stands below `/v1/ag-ui/:assistantId` too, which says who answers; so no assistant is named `connect` or `stop` there.
 */
export function createAgUiRoutes({ dispatch, callers, turnStreams }: AgUiNeeds): Router {
  const stepsOf =
    (caller: Caller) =>
    async (requestId: string): Promise<readonly StepSummary[]> => {
      try {
        return ((await dispatch.command('step:list', caller, { requestId })) as { steps: Step[] }).steps;
      } catch {
        return []; // Who may only read is not told of steps that began before; nor is anybody while they cannot be read.
      }
    };

  const run: RequestHandler = async (request, response) => {
    const caller = callers.of(request);
    const input = parse(runAgentInput, takeBody(request));
    const { threadId, runId, messages, state } = input;
    const isNew = await ask(dispatch, caller, input, assistantOf(request));
    const form = new AgUiForm({
      requestId: runId,
      run: {
        threadId,
        runId,
        isOne: speaksOne(input),
        sent: messages,
        state,
        joins: !isNew,
      },
      stepsOf: stepsOf(caller),
    });
    await turnStreams.follow(request, response, { chatId: threadId, messageLimit: SNAPSHOT_MESSAGES }, form);
  };

  const connect: RequestHandler = async (request, response) => {
    const input = parse(connectInput, takeBody(request));
    const { threadId, runId, messages, state } = input;
    const form = new AgUiForm({
      requestId: null,
      run: { threadId, runId, isOne: speaksOne(input), sent: messages, state, joins: true },
      stepsOf: stepsOf(callers.of(request)),
    });
    await turnStreams.follow(request, response, { chatId: threadId, messageLimit: SNAPSHOT_MESSAGES }, form);
  };

  const stop: RequestHandler = async (request, response) => {
    const { threadId: chatId, runId: requestId } = parse(stopInput, takeBody(request));
    const named = requestId === undefined ? {} : { requestId };
    response.json(await dispatch.command('turn:stop', callers.of(request), { chatId, ...named }));
  };

  const router = Router({ caseSensitive: true });
  const handlers: Readonly<Record<AgUiDeed, RequestHandler>> = { run, connect, stop };
  for (const { path, deed } of AG_UI_ROUTES)
    router
      .route(path)
      .post(handlers[deed])
      .all(answerOtherMethods(['POST']));
  return router;
}

function assistantOf(request: Request): string | undefined {
  const named = request.params['assistantId'];
  return named === undefined ? undefined : parse(assistantId, named, ['assistantId']);
}

/**
 * Starts the turn of a run with what the client says and the chat does not know; where it says nothing new, its last word
 * is answered anew (TRN-11).
 *
 * @returns whether the run is new to this client; else it is there already
 * @throws {ChatError} `idempotency_conflict`: the run is there, and was asked something else; as `turn:start`
 */
async function ask(
  dispatch: Dispatch,
  caller: Caller,
  input: RunAgentInput,
  assistant: string | undefined,
): Promise<boolean> {
  const { threadId: chatId, runId: requestId, messages, forwardedProps } = input;
  const held = await newestOf(dispatch, caller, chatId);
  const news = newsOf(messages, knownIds(held));
  if (held.some((message) => message.requestId === requestId)) {
    if (news.length > 0) throw new ChatError('idempotency_conflict');
    return false;
  }
  const regenerate = news.length > 0 ? null : await answeredAnew(dispatch, caller, input, held);
  if (regenerate === requestId) return false;
  const answerer = assistant ?? forwardedProps?.assistantId;
  const metadata = turnMetadata(input);
  const args = {
    chatId,
    requestId,
    ...(regenerate === null ? { input: inputOf(news), createChat: true } : { regenerate }),
    ...(answerer === undefined ? {} : { assistantId: answerer }),
    ...(forwardedProps?.onBusy === undefined ? {} : { onBusy: forwardedProps.onBusy }),
    ...(metadata === null ? {} : { metadata }),
  };
  const { duplicate } = (await dispatch.command('turn:start', caller, args)) as Result<'turn:start'>;
  return !duplicate;
}

/** The newest messages of a chat; none where it is not there, or not for this caller. */
async function newestOf(dispatch: Dispatch, caller: Caller, chatId: string): Promise<readonly Message[]> {
  try {
    const page = await dispatch.command('message:list', caller, { chatId, limit: SNAPSHOT_MESSAGES });
    return (page as Result<'message:list'>).messages;
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return [];
    throw error;
  }
}

/**
 * The turn that has answered the client's last word: the newest of the chat.
 *
 * @throws {ChatError} `bad_request`: there is nothing to answer
 */
async function answeredAnew(
  dispatch: Dispatch,
  caller: Caller,
  { threadId: chatId, messages }: RunAgentInput,
  held: readonly Message[],
): Promise<string> {
  const last = messages.findLast(({ role }) => role !== 'system' && role !== 'developer');
  const asked = held.findLast(({ role }) => role === 'user');
  if (!asked || last?.role !== 'user' || last.id !== (sentId(asked) ?? asked.messageId))
    throw new ChatError('bad_request', 'messages: expected a message at the end that has no answer yet', {
      details: { path: 'messages' },
    });
  const { turns } = (await dispatch.command('turn:list', caller, { chatId, limit: 1 })) as Result<'turn:list'>;
  return turns[0]?.requestId ?? '';
}
