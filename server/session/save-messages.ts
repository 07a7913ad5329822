import { canonicalJson, ChatError, tooLarge, type Message, type SavedMessage } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { inputRow } from './input-row.js';
import { messageBytes } from './message-buffer.js';
import { mustBeApart, mustBeTurnsOfThis } from './saved.js';

/**
 * Adds messages that no turn made: what a program that keeps its conversations here gives, whole. Like everything else
 * they get their places from the chat's single writer, and are told to those who follow it once they are stored.
 *
 * @returns the messages as they stand, in the order given; of an id that the chat has already, the one that it has
 * @throws {ChatError} `conflict` for an id that means something else, `idempotency_conflict` for a turn of another chat,
 *   `payload_too_large`
 */
export async function saveMessages(session: ChatSession, drafts: readonly SavedMessage[]): Promise<Message[]> {
  await mustBeTurnsOfThis(session, new Set(drafts.flatMap(({ requestId }) => requestId ?? [])));
  const known = await knownOf(session, drafts);
  const { ids } = session.env;
  const added = drafts.flatMap((draft) => {
    const messageId = draft.messageId ?? ids.id();
    return known.has(messageId) ? [] : [{ ...draft, messageId }];
  });
  mustBeApart(
    added.map(({ messageId }) => messageId),
    taken,
  );
  const stored = added.length === 0 ? [] : await storeInPlace(session, added);
  for (const message of stored) {
    const { messageId, requestId } = message;
    session.untold.delete(messageId);
    session.messageStored(messageId, message);
    session.emit({ type: 'message.created', ...(requestId === null ? {} : { requestId }), message });
  }
  const fresh = stored.values();
  return drafts.map(({ messageId }) => known.get(messageId ?? '') ?? (fresh.next().value as Message));
}

type Named = SavedMessage & { readonly messageId: string };

/** How often messages may take new places: a turn that never rests would have them written for ever. */
const MAX_TRIES = 3;

/**
 * Sequences are taken before the write and shown after it: where a running turn took some in between, the messages take
 * their places behind it and are written again, so that nobody sees a sequence go back. After a few tries they stay where
 * they are: their place is right, only later than others are they told of.
 */
async function storeInPlace(session: ChatSession, drafts: readonly Named[]): Promise<Message[]> {
  for (const { messageId } of drafts) session.untold.add(messageId);
  let stored: Message[] | null = null;
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const messages = drafts.map((draft) => rowOf(session, draft));
      const reserved = session.nextSequence;
      await session.env.store.saveMessages(session.chatId, messages);
      stored = messages;
      session.mustExist();
      if (session.nextSequence === reserved) break;
    }
  } catch (error) {
    // What one try has stored is told, though another failed.
    if (stored === null || session.isDeleted) {
      for (const { messageId } of drafts) session.untold.delete(messageId);
      throw error;
    }
  }
  return stored ?? [];
}

/** @throws {ChatError} `payload_too_large` */
function rowOf(session: ChatSession, draft: Named): Message {
  const { messageId, requestId = null, role, assistantId = null } = draft;
  const at = session.now;
  const row = inputRow({ chatId: session.chatId, requestId }, draft, {
    messageId,
    sequence: session.takeSequence(),
    at,
  });
  const message: Message = { ...row, role, assistantId, createdAt: draft.createdAt ?? at };
  const { maxMessageBytes } = session.env.settings.limits;
  if (messageBytes(message) > maxMessageBytes) throw tooLarge('maxMessageBytes', maxMessageBytes);
  return message;
}

/** The messages that the chat has under these ids. @throws {ChatError} `conflict` for an id of another, open or deleted message */
async function knownOf(session: ChatSession, drafts: readonly SavedMessage[]): Promise<Map<string, Message>> {
  const { store } = session.env;
  const byId = new Map(drafts.flatMap((draft) => (draft.messageId ? [[draft.messageId, draft] as const] : [])));
  const known = new Map<string, Message>();
  for (const live of session.turns.values()) {
    if (!live.isBuffered) continue;
    for (const messageId of byId.keys()) if (live.messages.get(messageId)) throw taken(messageId);
  }
  for (const messageId of await store.takenMessageIds([...byId.keys()])) {
    const message = await store.getMessage(messageId);
    const draft = byId.get(messageId);
    if (message?.chatId !== session.chatId || !draft || !isSame(message, draft)) throw taken(messageId);
    known.set(messageId, message);
  }
  return known;
}

const isSame = (message: Message, draft: SavedMessage): boolean =>
  message.role === draft.role &&
  message.type === draft.type &&
  canonicalJson(message.props) === canonicalJson(draft.props);

const taken = (messageId: string): ChatError =>
  new ChatError('conflict', 'This messageId is taken.', { details: { messageId } });
