import type { Chat } from '../chat.js';
import type { ChatCommands } from '../commands.js';
import { ChatError } from '../error.js';
import type { InputMessage, Message } from '../message.js';
import { isEnded, type Turn } from '../turn.js';
import { findQuestion, rewind } from './rewind.js';
import { turnOfAnswer } from './ui-metadata.js';
import type { UiRequest } from './ui-request.js';

type Regenerate = Extract<UiRequest['ask'], { kind: 'regenerate' }>;

export interface AskOptions {
  readonly newId: () => string;
  /** Who answers in a chat that comes into being with the question. */
  readonly defaultAssistantId?: string | undefined;
  /** Names the turn, so that to ask again is to ask once. Default: the id of the person's UI message. */
  readonly requestId?: string | undefined;
}

/**
 * Starts the turn that a UI request asks for.
 *
 * - A new message: a turn that has its id for requestId, so that it is started once (TRN-1).
 * - An edited one: the chat is taken back to before it, and asked anew.
 * - An answer anew: of the newest question as TRN-11 says, and stopped first where it is still being given; of an earlier
 *   one by taking the chat back.
 *
 * @throws {ChatError} as `turn:start`; `forbidden` to take a chat back for who may not change it
 */
export async function askTurn(commands: ChatCommands, request: UiRequest, options: AskOptions): Promise<Turn> {
  const { ask, chatId } = request;
  if (ask.kind === 'regenerate') return regenerate(commands, request, ask, options);
  const chat = await chatOf(commands, chatId);
  const before = ask.kind === 'edit' && chat !== null ? await findQuestion(commands, chatId, ask.question.id) : null;
  if (before !== null) await rewind(commands, before);
  // What was never asked is no edit of anything.
  const requestId = options.requestId ?? (before === null ? ask.question.id : options.newId());
  return start(commands, request, chat, ask.question.input, { ...options, requestId });
}

async function chatOf(commands: ChatCommands, chatId: string): Promise<Chat | null> {
  try {
    return (await commands.call('chat:get', { chatId })).chat;
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return null;
    throw error;
  }
}

async function start(
  commands: ChatCommands,
  request: UiRequest,
  chat: Chat | null,
  input: readonly InputMessage[],
  { requestId, defaultAssistantId }: AskOptions & { readonly requestId: string },
): Promise<Turn> {
  // Said each time: a start that is repeated has to be the same, and by then the chat is there.
  const assistantId = request.assistantId ?? chat?.assistantId ?? defaultAssistantId;
  const { turn } = await commands.call('turn:start', {
    chatId: request.chatId,
    requestId,
    input: [...input],
    ...(assistantId === undefined ? {} : { assistantId }),
    ...(chat === null ? { createChat: true } : {}),
    ...request.options,
  });
  return turn;
}

async function regenerate(
  commands: ChatCommands,
  request: UiRequest,
  ask: Regenerate,
  options: AskOptions,
): Promise<Turn> {
  const { chatId, assistantId } = request;
  const requestId = options.requestId ?? options.newId();
  const [newest] = (await commands.call('turn:list', { chatId, limit: 1 })).turns;
  if (!newest) throw new ChatError('conflict', 'Nothing was asked in this chat yet.');
  const question = await earlierQuestion(commands, chatId, newest, ask);
  if (question !== null) {
    const chat = await chatOf(commands, chatId);
    const input = question.map(inputOf);
    await rewind(commands, question);
    return start(commands, request, chat, input, { ...options, requestId });
  }
  // A page that stopped listening has not stopped it.
  if (!isEnded(newest.status)) await commands.call('turn:stop', { chatId, requestId: newest.requestId });
  const { turn } = await commands.call('turn:start', {
    chatId,
    requestId,
    regenerate: newest.requestId,
    ...(assistantId === undefined ? {} : { assistantId }),
    ...request.options,
  });
  return turn;
}

const inputOf = ({ type, props, metadata }: Message): InputMessage => ({ type, props, metadata });

/** The question to go back to; null where it is that of the newest turn. @throws {ChatError} `not_found` */
async function earlierQuestion(
  commands: ChatCommands,
  chatId: string,
  newest: Turn,
  { question, answer }: Regenerate,
): Promise<Message[] | null> {
  const answered = answer === null ? null : turnOfAnswer(answer);
  const uiId = question ?? (answered === null ? answer : null);
  if (answered === newest.requestId || (uiId === null && answered === null)) return null;
  const asked = (requestId: string) => commands.call('message:list', { chatId, requestId, role: 'user', limit: 200 });
  const found = uiId === null ? (await asked(answered ?? '')).messages : await findQuestion(commands, chatId, uiId);
  const [first] = found ?? [];
  if (!found || !first) throw new ChatError('not_found', 'There is no such message to answer anew.');
  const [last] = (await commands.call('message:list', { chatId, role: 'user', limit: 1 })).messages;
  return last?.requestId === first.requestId ? null : found;
}
