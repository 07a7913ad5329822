import { ChatError, utf8Bytes, type Args, type Result, type Turn } from '../../../protocol/index.js';
import { chatIdTaken, mayRead, mustHaveRight } from '../access.js';
import type { ChatSession } from '../chat-session.js';
import type { Environment } from '../environment.js';
import { fingerprint } from '../fingerprint.js';
import type { Identity } from '../identity.js';
import { turnAsRead } from '../read-turns.js';
import type { Sessions } from '../sessions.js';
import { startTurn } from '../start-turn.js';
import { newChat } from '../new-chat.js';

/** `turn:start`, also for a chat that comes into being with it. */
export async function start(
  env: Environment,
  sessions: Sessions,
  identity: Identity,
  args: Args<'turn:start'>,
  sent: unknown,
): Promise<Result<'turn:start'>> {
  const request = {
    args,
    requestId: args.requestId ?? env.ids.id(),
    fingerprint: fingerprint(sent),
    userId: identity.userId,
    newChat: null,
  };
  const chat = await sessions.chat(args.chatId);
  // Not one chat is taken into memory for somebody who may not read it.
  if (chat && !mayRead(chat, identity)) throw args.createChat ? chatIdTaken() : new ChatError('not_found');
  const session = chat && (await sessions.open(args.chatId));
  if (session) return startIn(session, identity, request);
  if (!args.createChat) throw new ChatError('not_found');
  const created = await sessions.exclusively(args.chatId, async () => {
    // Another command has created it meanwhile, this very start perhaps.
    if (await sessions.chat(args.chatId)) return null;
    if (await env.store.isChatIdTaken(args.chatId)) throw chatIdTaken();
    if (args.assistantId === undefined)
      throw new ChatError('bad_request', 'assistantId: expected for a new chat', { details: { path: 'assistantId' } });
    const chat = await newChat(env, args.chatId, { assistantId: args.assistantId }, identity);
    const begun = sessions.begin(chat);
    try {
      return await begun.commands.run(() =>
        startTurn(begun, { ...request, newChat: chat, onStored: () => sessions.keep(begun) }),
      );
    } catch (error) {
      if (sessions.get(chat.chatId) !== begun) begun.close();
      throw error;
    }
  });
  return created ?? start(env, sessions, identity, args, sent);
}

function startIn(
  session: ChatSession,
  identity: Identity,
  request: Parameters<typeof startTurn>[1],
): Promise<Result<'turn:start'>> {
  return session.commands.run(async () => {
    session.mustExist();
    mustHaveRight(session.chat, identity, 'talk');
    return startTurn(session, request);
  });
}

/**
 * The turns of a chat as they are now, newest first, and of them what a page may hold (DAT-3): at least one.
 * @throws {ChatError} `not_found` where `before` is no turn of this chat
 */
export async function listTurns(
  session: ChatSession,
  { before, limit }: Args<'turn:list'>,
): Promise<Result<'turn:list'>> {
  const { store, settings } = session.env;
  const overlay = session.beginRead();
  try {
    // Turns that nobody was told of yet are left out, and take no place.
    const fetched = limit + 1 + session.beginning.size;
    const records = await store.listTurns(session.chatId, {
      limit: fetched,
      ...(before === undefined ? {} : { before }),
    });
    const told = records.flatMap(({ turn }) => turnAsRead(session, overlay, turn) ?? []);
    const turns = fitting(told.slice(0, limit), settings.limits.maxPageBytes);
    return { turns, hasMore: turns.length < told.length || records.length === fetched };
  } finally {
    session.endRead(overlay);
  }
}

/** The first of these that fit, and the very first in any case. */
function fitting(turns: readonly Turn[], maxBytes: number): Turn[] {
  let bytes = 0;
  const end = turns.findIndex((turn, index) => {
    bytes += utf8Bytes(JSON.stringify(turn));
    return index > 0 && bytes > maxBytes;
  });
  return turns.slice(0, end < 0 ? turns.length : end);
}
