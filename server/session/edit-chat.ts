import { ChatError, raiseActivity, type Args, type Chat } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { endTurn } from './end-turn.js';
import { patiently } from './patiently.js';

/** Changes fields of a chat; who may read it no more is gone before anybody hears of it (ACC-4). */
export async function updateChat(
  session: ChatSession,
  { chatId, ...patch }: Args<'chat:update'>,
  updatedBy: string,
): Promise<Chat> {
  const stored = await session.env.store.updateChat(chatId, { ...patch, updatedBy }, session.now);
  session.settle();
  // What a running turn has said is not stored yet.
  const { lastMessageAt } = session.chat;
  const chat = lastMessageAt === null ? stored : raiseActivity(stored, { createdAt: lastMessageAt });
  session.chat = chat;
  session.review();
  session.emit({ type: 'chat.updated', chat });
  return chat;
}

/** CMD-3, in its order: no more input (this is a command), turns end, everything is hidden, everybody is told, followings end. */
export async function deleteChat(session: ChatSession): Promise<void> {
  const { env, chatId } = session;
  await Promise.all(
    [...session.turns.values()].map((live) => endTurn(session, live, { status: 'interrupted', stopReason: 'deleted' })),
  );
  await patiently(session, () => env.store.deleteChat(chatId, session.now)).catch((error: unknown) => {
    // It is gone already, by a try whose answer was lost: no other command has come in between.
    if (!(error instanceof ChatError) || error.code !== 'not_found') throw error;
  });
  session.isDeleted = true;
  for (const live of session.turns.values()) session.recorder.forget(live.key);
  session.turns.clear();
  session.emit({ type: 'chat.deleted' });
  session.settle();
  env.pump.inOrder(() => session.expel('deleted'));
}
