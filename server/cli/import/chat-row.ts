import {
  assistantId as assistantIdSchema,
  cleanJson,
  id as idSchema,
  splitHalf,
  wellFormed,
  type ArgsInput,
  type JsonObject,
} from '../../../protocol/index.js';
import { chatIdOf } from '../../../stores/chat-id.js';
import type { LegacyChat } from './legacy-source.js';
import { momentOf } from './moment.js';
import { columnsOf, isTrue, told } from './old-row.js';
import type { SqlRow } from './sql.js';

/** What a conversation of the old tables becomes. */
export interface ChatRow {
  readonly draft: ArgsInput<'chat:create'> & { readonly chatId: string };
  /** What is not as it was, in words. */
  readonly changes: readonly string[];
}

const MAX_TITLE = 500;

/**
 * The chat of a conversation: under its old id where that can be one and is its own, else under one made from it; the
 * old row stands in `metadata.yao.row`.
 *
 * @param first its first rows, for what the conversation itself does not say
 * @param fallback the assistant of chats that had none
 */
export async function chatOf(legacy: LegacyChat, first: readonly SqlRow[], fallback: string): Promise<ChatRow> {
  const { row, changes: broken } = told(legacy.row ?? {});
  const name = await nameOf(legacy);
  const title = titleOf(row['title'] ?? null);
  const assistant = assistantOf(row, first, fallback);
  const createdAt = momentOf(row['created_at'] ?? null) ?? momentOf(first[0]?.['created_at'] ?? null);
  const { columns, changes: mended } = columnsOf(row, []);
  const yao = { row: legacy.row === null ? { chat_id: legacy.cid, sid: legacy.sid } : columns };
  return {
    draft: {
      chatId: name.chatId,
      assistantId: assistant.id,
      ...(title.shown === null ? {} : { title: title.shown }),
      ...(createdAt === null ? {} : { createdAt }),
      metadata: cleanJson({ yao }) as JsonObject,
    },
    changes: [
      ...broken,
      ...(legacy.row === null ? [strayOf(legacy)] : []),
      ...name.changes,
      ...mended,
      ...title.changes,
      ...assistant.changes,
      ...(createdAt === null ? ['created_at is no time: shown with that of the import'] : []),
      ...(isTrue(row['silent']) ? ['it was silent, not listed: here it is'] : []),
    ],
  };
}

const strayOf = ({ cid, isFirst }: LegacyChat): string => {
  if (cid === null) return 'messages that name no chat: those of one session are one';
  return isFirst ? 'messages whose chat is missing' : 'messages of somebody else than the chat: kept apart';
};

async function nameOf({ cid, sid, isFirst }: LegacyChat): Promise<{ chatId: string; changes: readonly string[] }> {
  if (cid !== null && isFirst && idSchema.safeParse(cid).success) return { chatId: cid, changes: [] };
  const why = cid === null || !isFirst ? 'it has no id of its own' : 'its id can be none here';
  const chatId = await chatIdOf('yao', 'chat', ...(isFirst && cid !== null ? [cid] : [cid, sid]));
  return { chatId, changes: [`${why}: it is ${chatId}`] };
}

function titleOf(title: string | null): { shown: string | null; changes: readonly string[] } {
  if (title === null) return { shown: null, changes: [] };
  const clean = wellFormed(title);
  if (clean.length <= MAX_TITLE) return { shown: clean, changes: [] };
  const shown = splitHalf(clean.slice(0, MAX_TITLE)).head;
  return { shown, changes: [`its title is longer than ${MAX_TITLE}: cut, whole in metadata`] };
}

/** Of the chat, else of its first rows that name one. */
function assistantOf(
  row: SqlRow,
  first: readonly SqlRow[],
  fallback: string,
): { id: string; changes: readonly string[] } {
  const isId = (id: string): boolean => assistantIdSchema.safeParse(id).success;
  const own = row['assistant_id'] ?? '';
  if (isId(own)) return { id: own, changes: [] };
  const why = own === '' ? 'it names no assistant' : 'its assistant_id can be none here';
  const id = first.map((one) => one['assistant_id'] ?? '').find(isId) ?? fallback;
  return { id, changes: [`${why}: it has ${id}`] };
}
