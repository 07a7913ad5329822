import { canonicalJson, ChatError, type Message, type SavedMessage } from '../../protocol/index.js';
import { notAfter } from '../clock.js';
import type { ChatSession } from './chat-session.js';
import { inputRow } from './input-row.js';
import { mustFit } from './must-fit.js';
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
  mustFit(drafts, session.env.settings.limits, 'messages');
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
  // Last, and nothing awaited behind it: from here on it is the ops of a turn that find the id in use.
  for (const { messageId } of added) if (session.holds(messageId)) throw taken(messageId);
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

async function storeInPlace(session: ChatSession, drafts: readonly Named[]): Promise<Message[]> {
  for (const { messageId } of drafts) session.untold.add(messageId);
  try {
    const stored = await session.sequences.inPlace(drafts.length, async (places) => {
      const messages = drafts.map((draft, index) => rowOf(session, draft, places[index] as number));
      await session.env.store.saveMessages(session.chatId, messages);
      return messages;
    });
    if (session.isDeleted) throw new ChatError('not_found');
    return stored;
  } catch (error) {
    for (const { messageId } of drafts) session.untold.delete(messageId);
    throw error;
  }
}

function rowOf(session: ChatSession, draft: Named, sequence: number): Message {
  const { messageId, requestId = null, role, assistantId = null } = draft;
  const at = session.now;
  const row = inputRow({ chatId: session.chatId, requestId }, draft, { messageId, sequence, at });
  return { ...row, role, assistantId, createdAt: notAfter(at, draft.createdAt) };
}

/** The messages that the chat has under these ids. @throws {ChatError} `conflict` for an id of another, open or deleted message */
async function knownOf(session: ChatSession, drafts: readonly SavedMessage[]): Promise<Map<string, Message>> {
  const { store } = session.env;
  const byId = new Map(drafts.flatMap((draft) => (draft.messageId ? [[draft.messageId, draft] as const] : [])));
  const known = new Map<string, Message>();
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
