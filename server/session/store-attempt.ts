import { ChatError, type Message, type Turn } from '../../protocol/index.js';
import { pause } from '../clock.js';
import { FencedOut } from '../ports/fence.js';
import type { TurnWrite } from '../ports/store.js';
import type { ChatSession } from './chat-session.js';
import type { LiveTurn } from './live-turn.js';
import { renameTaken } from './rename-taken.js';

const RETRY_MS = 200;

/**
 * Write 2 of an attempt: stores it as it is when it is written; what people edit meanwhile is stored after it. Resolves
 * once nothing of it is held in memory alone.
 *
 * @throws {ChatError} only when the process ends, or another node has the chat: it is not stored then
 */
export async function storeAttempt(session: ChatSession, live: LiveTurn, turn: Turn): Promise<void> {
  let written = new Map<string, Message>();
  for (let isWritten = false; !isWritten && !session.isDeleted;) {
    const tried = session.env.writes.submit(() => {
      written = new Map([...live.messages.messages].map((message) => [message.messageId, message]));
      return endWrite(session, live, turn);
    }, Infinity);
    isWritten = await tried.then(
      () => true,
      (error: unknown) => giveWay(session, live, error),
    );
  }
  while (!session.isDeleted) {
    const edited = [...live.messages.messages].filter((message) => written.get(message.messageId) !== message);
    const deleted = [...written.keys()].filter((messageId) => !live.messages.get(messageId));
    if (edited.length + deleted.length === 0) {
      live.isStored = true;
      return;
    }
    await untilStored(session, () => session.env.store.saveMessages(session.chatId, edited));
    await untilStored(session, () => session.env.store.deleteMessages(session.chatId, deleted, session.now));
    for (const messageId of deleted) written.delete(messageId);
    for (const message of edited) written.set(message.messageId, message);
  }
}

/** A conflict is over the id of a message or step: it is renamed and the attempt written again. @returns false: not written yet */
async function giveWay(session: ChatSession, live: LiveTurn, error: unknown): Promise<false> {
  if (!(error instanceof ChatError) || error.code !== 'conflict') throw error;
  // A store that cannot say whose the id is will be asked again with the next try.
  const isRenamed = await renameTaken(session, live, error).catch(() => false);
  if (!isRenamed) await pause(session.env.clock, RETRY_MS);
  return false;
}

/**
 * Tries again until the store takes it: the turn has ended, nobody waits but the buffer.
 *
 * @throws {FencedOut} the chat is no longer this node's to write
 */
async function untilStored(session: ChatSession, work: () => Promise<unknown>): Promise<void> {
  while (!session.isDeleted) {
    if (session.hasMoved) throw new FencedOut(session.chatId);
    try {
      await work();
      return;
    } catch (error) {
      if (error instanceof FencedOut) throw error;
      session.env.log.warn({ err: error, chatId: session.chatId }, 'an edit could not be stored and is tried again');
      await pause(session.env.clock, RETRY_MS);
    }
  }
}

function endWrite(session: ChatSession, live: LiveTurn, turn: Turn): TurnWrite {
  return {
    kind: 'end',
    record: { ...live.record, turn },
    messages: [...live.messages.messages],
    deletedMessageIds: [...live.deletedStored, ...live.messages.deletedIds],
    steps: live.stepRecords(),
    lastSequence: session.sequences.next - 1,
    at: turn.endedAt ?? session.now,
  };
}
