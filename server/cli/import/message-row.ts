import {
  assistantId as assistantIdSchema,
  cleanJson,
  messageType,
  SIGNAL_TYPE,
  type JsonObject,
  type SavedMessage,
} from '../../../protocol/index.js';
import { chatIdOf } from '../../../stores/chat-id.js';
import { readContent } from './content.js';
import { momentOf } from './moment.js';
import { columnsOf, isTrue, told } from './old-row.js';
import type { Part } from './part.js';
import type { SqlRow } from './sql.js';

/** What a row of `agent_history` becomes. */
export interface MessageRow {
  readonly rowId: string;
  /** One for each part of its content, in order, each with an id that is always the same. */
  readonly messages: readonly NamedMessage[];
  /** What is not as it was, in words. */
  readonly changes: readonly string[];
}

export type NamedMessage = SavedMessage & { readonly messageId: string };

/** Where the type of a part is none that a message can have. */
const OTHER_TYPE = 'unknown';

/**
 * The messages of a row. Roles but `user` and `assistant` are an assistant's here, with `metadata.role`; the row's other
 * columns stand in `metadata.yao.row`, with the first of its messages.
 *
 * @param now what has expired by then is told
 */
export async function messagesOf(chatId: string, given: SqlRow, now: number): Promise<MessageRow> {
  const { row, changes: broken } = told(given);
  const rowId = row['id'] ?? '';
  const role = row['role'] ?? null;
  const content = readContent(row['content'] ?? null, { role, name: row['name'] ?? null });
  const assistant = assistantOf(row);
  const createdAt = momentOf(row['created_at'] ?? null);
  const { columns, changes: mended } = columnsOf(row, ['content']);
  const namedOf = async (part: Part, index: number): Promise<NamedMessage> => {
    const yao = {
      ...(index === 0 ? { row: columns } : { row: { id: rowId } }),
      ...placeOf(index, content.parts.length),
    };
    return {
      messageId: await chatIdOf('yao', 'message', chatId, rowId, String(index)),
      role: role === 'user' ? 'user' : 'assistant',
      type: typeOf(part),
      props: cleanJson(part.props) as JsonObject,
      ...(assistant.id === null ? {} : { assistantId: assistant.id }),
      ...(createdAt === null ? {} : { createdAt }),
      metadata: cleanJson({ ...roleOf(role), yao: { ...yao, ...origin(part) } }) as JsonObject,
    };
  };
  const changes = [
    ...broken,
    ...content.changes,
    ...mended,
    ...content.parts
      .filter((part) => typeOf(part) !== part.type)
      .map(({ type }) => `the type ${JSON.stringify(type)} can be none here: kept as ${OTHER_TYPE}`),
    ...assistant.changes,
    ...fateOf(row, role, createdAt, now),
  ];
  return { rowId, messages: await Promise.all(content.parts.map(namedOf)), changes };
}

const placeOf = (index: number, parts: number): JsonObject => (parts === 1 ? {} : { part: index + 1, parts });

const roleOf = (role: string | null): JsonObject =>
  role === null || role === '' || role === 'user' || role === 'assistant' ? {} : { role };

const typeOf = ({ type }: Part): string =>
  type !== SIGNAL_TYPE && messageType.safeParse(type).success ? type : OTHER_TYPE;

/** What of a part its type and props do not tell. */
function origin(part: Part): JsonObject {
  const was = part.was ?? (typeOf(part) === part.type ? undefined : part.type);
  return {
    ...(was === undefined ? {} : { type: was }),
    ...(part.rest === undefined ? {} : { rest: part.rest }),
    ...(part.around === undefined ? {} : { around: part.around }),
  };
}

function assistantOf(row: SqlRow): { id: string | null; changes: readonly string[] } {
  const id = row['assistant_id'] ?? '';
  if (id === '') return { id: null, changes: [] };
  if (assistantIdSchema.safeParse(id).success) return { id, changes: [] };
  return { id: null, changes: ['its assistant_id can be none here: kept in metadata only'] };
}

/** What the old system did with a row, and nobody does here. */
function fateOf(row: SqlRow, role: string | null, createdAt: string | null, now: number): string[] {
  const expiresAt = momentOf(row['expired_at'] ?? null);
  return [
    ...(role === null || role === '' ? ['it has no role: kept as an assistant’s'] : []),
    ...(createdAt === null ? ['created_at is no time: shown with that of the import'] : []),
    ...(isTrue(row['silent']) ? ['it was silent, not shown: here it is'] : []),
    ...(expiresAt !== null && Date.parse(expiresAt) <= now ? ['it had expired: kept'] : []),
  ];
}
