import { Router, type RequestHandler } from 'express';
import { askTurn, historyOf, readUiRequest, turnOfAnswer, turnToFollow } from '../../../protocol/ai-sdk/index.js';
import { ChatError, id, parse, type ChatCommands, type Turn } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { IdSource } from '../../id-source.js';
import type { Dispatch } from '../dispatch.js';
import { queryShape, readQuery } from '../http/arguments.js';
import type { Callers } from '../http/callers.js';
import { answerOtherMethods } from '../http/errors.js';
import { takeBody } from '../http/json-body.js';
import { SNAPSHOT_MESSAGES, type TurnStreams } from '../http/turn-streams.js';
import { commandsOf } from './commands-of.js';
import { AI_SDK_ROUTES, chatNamed, stopBody } from './described.js';
import { majorOf } from './major.js';
import { NothingToFollow, UiForm } from './ui-form.js';

export interface AiSdkNeeds {
  readonly dispatch: Dispatch;
  readonly callers: Callers;
  readonly turnStreams: TurnStreams;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Who answers in a chat that comes into being with its first question. */
  readonly defaultAssistantId?: string | undefined;
  readonly maxMessageBytes: number;
}

const historyQuery = queryShape(AI_SDK_ROUTES.history, AI_SDK_ROUTES.history.path);

/**
 * The endpoint of a stock `useChat` with `DefaultChatTransport`.
 *
 * - `POST /v1/ai-sdk/chat` asks, and tells the answer while it is made.
 * - `GET …/:chatId/stream` tells the answer that is being made, from its beginning; 204 where there is none.
 * - `POST …/:chatId/stop` stops it. Nothing else does: a client that leaves only leaves.
 * - `GET …/:chatId/messages` gives the conversation, for `messages`.
 */
export function createAiSdkRoutes(needs: AiSdkNeeds): Router {
  const { dispatch, callers, turnStreams, clock, ids } = needs;

  const ask: RequestHandler = async (request, response) => {
    const major = majorOf(request);
    const commands = commandsOf(dispatch, callers.of(request));
    const asked = readUiRequest(takeBody(request));
    const requestId = request.get('idempotency-key');
    const turn = await askTurn(commands, asked, {
      newId: () => ids.id(),
      defaultAssistantId: needs.defaultAssistantId,
      maxMessageBytes: needs.maxMessageBytes,
      ...(requestId === undefined ? {} : { requestId }),
    });
    const form = new UiForm({ major, commands, choose: (turns) => asItIs(commands, turn, turns) });
    await turnStreams.follow(request, response, { chatId: turn.chatId, messageLimit: SNAPSHOT_MESSAGES }, form);
  };

  const resume: RequestHandler = async (request, response) => {
    const major = majorOf(request);
    const { success, data: chatId } = id.safeParse(request.params['chatId']);
    if (!success) return void response.status(204).end();
    const commands = commandsOf(dispatch, callers.of(request));
    const choose = async (turns: readonly Turn[]): Promise<Turn> => {
      const turn = turnToFollow(turns, clock.now());
      if (!turn) throw new NothingToFollow();
      return turn;
    };
    try {
      await turnStreams.follow(
        request,
        response,
        { chatId, messageLimit: SNAPSHOT_MESSAGES },
        new UiForm({ major, commands, choose }),
      );
    } catch (error) {
      if (!isNothing(error)) throw error;
      // A page asks as soon as it is there, also for a chat that is about to be; anything else would be an error to it.
      response.status(204).end();
    }
  };

  const stop: RequestHandler = async (request, response) => {
    const commands = commandsOf(dispatch, callers.of(request));
    const { chatId } = parse(chatNamed, request.params);
    const { messageId } = parse(stopBody, takeBody(request));
    const requestId = messageId === undefined ? undefined : (turnOfAnswer(messageId) ?? messageId);
    response.json({ turn: await stopped(commands, chatId, requestId) });
  };

  const history: RequestHandler = async (request, response) => {
    const major = majorOf(request);
    const { chatId } = parse(chatNamed, request.params);
    const args = parse(AI_SDK_ROUTES.history.args, { ...readQuery(request, historyQuery), chatId });
    response.json(await historyOf(commandsOf(dispatch, callers.of(request)), args, major));
  };

  const router = Router({ caseSensitive: true });
  router
    .route(AI_SDK_ROUTES.ask.path)
    .post(ask)
    .all(answerOtherMethods(['POST']));
  router
    .route(AI_SDK_ROUTES.stop.path)
    .post(stop)
    .all(answerOtherMethods(['POST']));
  // A HEAD would follow the chat and show nothing of it.
  router
    .route(AI_SDK_ROUTES.resume.path)
    .head(answerOtherMethods(['GET']))
    .get(resume)
    .all(answerOtherMethods(['GET']));
  router
    .route(AI_SDK_ROUTES.history.path)
    .get(history)
    .all(answerOtherMethods(['GET']));
  return router;
}

/** The turn in a snapshot that was taken after its start. One that is not in it has ended already. */
const asItIs = async (commands: ChatCommands, { requestId }: Turn, turns: readonly Turn[]): Promise<Turn> =>
  turns.find((turn) => turn.requestId === requestId) ?? (await commands.call('turn:get', { requestId })).turn;

/** What there is to stop, as it ended; null where there is nothing. @throws {ChatError} `not_found`: no such chat */
async function stopped(commands: ChatCommands, chatId: string, requestId: string | undefined): Promise<Turn | null> {
  try {
    const named = requestId === undefined ? {} : { requestId };
    return (await commands.call('turn:stop', { chatId, ...named })).turn;
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'not_found') throw error;
    await commands.call('chat:get', { chatId });
    return null;
  }
}

const isNothing = (error: unknown): boolean =>
  error instanceof NothingToFollow || (error instanceof ChatError && error.code === 'not_found');
