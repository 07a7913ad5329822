import * as z from 'zod';
import { UI_MAJORS, uiRequest } from '../../../protocol/ai-sdk/index.js';
import { commands as table, id, jsonObject, turn } from '../../../protocol/index.js';
import type { FrontendRoute } from '../http/frontend-route.js';
import { VERSION_HEADER } from './major.js';

const CHAT = '/v1/ai-sdk/chat';

export const chatNamed = z.object({ chatId: id });
/** The UI message whose answer is to stop; without it the one that is being given. */
export const stopBody = z.object({ messageId: z.string().max(200).optional() });

const uiHistory = z.object({
  messages: z.array(
    z.object({
      id: z.string(),
      role: z.enum(['user', 'assistant']),
      metadata: z.unknown().optional(),
      parts: z.array(jsonObject),
    }),
  ),
  hasMore: z.boolean(),
  before: z.int().nullable(),
});

const major = {
  [VERSION_HEADER]: {
    description: 'The major of the AI SDK on the page.',
    schema: z.enum(UI_MAJORS.map(String) as [string, ...string[]]).default('7'),
  },
};
const STREAM = 'A UI message stream of the AI SDK: one `data` line per chunk, `[DONE]` at the end.';

/** The endpoint of a stock `useChat` with `DefaultChatTransport`, as OpenAPI tells of it. */
export const AI_SDK_ROUTES = {
  ask: {
    operationId: 'aiSdkAsk',
    tag: 'ai-sdk',
    summary: 'Asks as `useChat` of the AI SDK does, and tells the answer.',
    method: 'post',
    path: CHAT,
    args: z.object({}),
    body: uiRequest,
    headers: {
      ...major,
      'Idempotency-Key': {
        description: 'Names the turn in place of the UI message, so that to ask again is to ask once.',
        schema: table['turn:start'].args.shape.requestId,
      },
    },
    answer: STREAM,
  },
  resume: {
    operationId: 'aiSdkResume',
    tag: 'ai-sdk',
    summary: 'Tells the answer that is being given, from its beginning.',
    method: 'get',
    path: `${CHAT}/:chatId/stream`,
    args: chatNamed,
    headers: major,
    answer: STREAM,
    nothing: 'There is no answer to tell.',
  },
  stop: {
    operationId: 'aiSdkStop',
    tag: 'ai-sdk',
    summary: 'Stops the answer that is being given.',
    method: 'post',
    path: `${CHAT}/:chatId/stop`,
    args: chatNamed,
    body: stopBody,
    answer: z.object({ turn: turn.nullable() }),
  },
  history: {
    operationId: 'aiSdkHistory',
    tag: 'ai-sdk',
    summary: 'Gives the conversation as `messages` of `useChat`.',
    method: 'get',
    path: `${CHAT}/:chatId/messages`,
    args: table['message:list'].args,
    headers: major,
    answer: uiHistory,
  },
} as const satisfies Record<string, FrontendRoute>;
