import type { Chat } from '../chat.js';
import type { ArgsInput, ChatCommands } from '../commands.js';
import { ChatError } from '../error.js';
import { id } from '../ids.js';
import { DEFAULT_LIMITS } from '../limits.js';
import type { InputMessage, Message } from '../message.js';
import { isEnded, type Turn } from '../turn.js';
import { mustBeAStart } from './must-be-a-start.js';
import { findQuestion, rewind } from './rewind.js';
import { turnOfAnswer } from './ui-metadata.js';
import { uiIdOf } from './ui-message.js';
import type { UiRequest } from './ui-request.js';

type Regenerate = Extract<UiRequest['ask'], { kind: 'regenerate' }>;

export interface AskOptions {
  readonly newId: () => string;
  /** Who answers in a chat that comes into being with the question. */
  readonly defaultAssistantId?: string | undefined;
  /** Names the turn, so that to ask again is to ask once. Default: the id of the person's UI message. */
  readonly requestId?: string | undefined;
  /** The server's bound (`hello.limits`). Default: the usual one. */
  readonly maxMessageBytes?: number | undefined;
}

/**
 * Starts the turn that a UI request asks for.
 *
 * - A new message: a turn that has its id for requestId, so that it is started once (TRN-1).
 * - An edited one: the chat is taken back to before it, and asked anew.
 * - An answer anew: of the newest question as TRN-11 says, and stopped first where it is still being given; of an earlier
 *   one by taking the chat back.
 *
 * The chat is taken back only for a question that can be asked, and once for each name that a turn is given: whoever asks
 * again under it is given the turn that he has.
 *
 * @throws {ChatError} as `turn:start`; `forbidden` to take a chat back for who may not change it
 */
export async function askTurn(commands: ChatCommands, request: UiRequest, options: AskOptions): Promise<Turn> {
  const { ask, chatId } = request;
  const asked = ask.kind === 'submit' ? null : await turnNamed(commands, chatId, options.requestId);
  if (ask.kind === 'regenerate')
    return asked ? answeredAnew(commands, asked, ask) : regenerate(commands, request, ask, options);
  const { question, kind } = ask;
  const chat = await chatOf(commands, chatId);
  const isEdit = kind === 'edit' && chat !== null && asked === null;
  const before = isEdit ? await findQuestion(commands, chatId, question.id) : null;
  // What was never asked is no edit of anything. What was asked, and is gone, has left its name to its turn.
  const isNameless = isEdit && (before !== null || (await turnNamed(commands, chatId, question.id)) !== null);
  const requestId = options.requestId ?? (isNameless ? options.newId() : question.id);
  const args = startOf(request, chat, question.input, { ...options, requestId });
  if (before !== null) {
    mustBeAStart(args, options.maxMessageBytes ?? DEFAULT_LIMITS.maxMessageBytes);
    await rewind(commands, before, options.newId);
  }
  return (await commands.call('turn:start', args)).turn;
}

/** The turn of the chat that has this name; null where there is none that one may see. */
async function turnNamed(commands: ChatCommands, chatId: string, requestId: string | undefined): Promise<Turn | null> {
  if (!id.safeParse(requestId).success) return null;
  try {
    const { turn } = await commands.call('turn:get', { requestId: requestId as string });
    return turn.chatId === chatId ? turn : null;
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return null;
    throw error;
  }
}

/** The turn that has answered anew already. @throws {ChatError} `idempotency_conflict`: it answers something else */
async function answeredAnew(commands: ChatCommands, turn: Turn, { question }: Regenerate): Promise<Turn> {
  const { chatId, requestId } = turn;
  const { messages } = await commands.call('message:list', { chatId, requestId, role: 'user', limit: 1 });
  const [first] = messages;
  // Of its own it has a question only where the chat was taken back for it.
  if (first && question !== null && (uiIdOf(first) ?? requestId) !== question)
    throw new ChatError('idempotency_conflict');
  return turn;
}

async function chatOf(commands: ChatCommands, chatId: string): Promise<Chat | null> {
  try {
    return (await commands.call('chat:get', { chatId })).chat;
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return null;
    throw error;
  }
}

function startOf(
  request: UiRequest,
  chat: Chat | null,
  input: readonly InputMessage[],
  { requestId, defaultAssistantId }: AskOptions & { readonly requestId: string },
): ArgsInput<'turn:start'> {
  // Said each time: a start that is repeated has to be the same, and by then the chat is there.
  const assistantId = request.assistantId ?? chat?.assistantId ?? defaultAssistantId;
  return {
    chatId: request.chatId,
    requestId,
    input: [...input],
    ...(assistantId === undefined ? {} : { assistantId }),
    ...(chat === null ? { createChat: true } : {}),
    ...request.options,
  };
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
    const args = startOf(request, chat, question.map(inputOf), { ...options, requestId });
    mustBeAStart(args, options.maxMessageBytes ?? DEFAULT_LIMITS.maxMessageBytes);
    await rewind(commands, question, options.newId);
    return (await commands.call('turn:start', args)).turn;
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
