import * as z from 'zod';
import { id, jsonObject, type Message, type SavedMessage } from '../../protocol/index.js';
import { keptForm, withForm } from '../kept-form.js';
import { isSaid, shownText, wordsOf } from '../shown-text.js';
import { namedRole, roleOf, speakerOf } from '../speaker.js';
import type { HistoryMessage } from './base-chat-history.js';
import { branch, type Branch, type Placed } from './branch.js';
import type { SchemaInstance, SchemaRegistry } from './schema-registry.js';
import { ValueError } from './value-error.js';
import { jsonText } from './wire-content.js';

type Schemas = Pick<SchemaRegistry, 'read'>;

/** What a message keeps of a history's, beside the text that people see. */
const storedForm = z.object({
  role: z.string(),
  turnId: z.string().nullable(),
  schema: z.string(),
  data: jsonObject,
  branch,
});
type StoredForm = z.infer<typeof storedForm>;

/** A message of a chat as a history has it. */
export interface Row extends Placed {
  readonly messageId: string;
  readonly message: HistoryMessage;
}

/** The message to save. Its turn is that of the chat, where the name may be one. */
export function draftOf(
  messageId: string,
  { role, content, turnId }: HistoryMessage,
  { branch: place, assistantId }: { readonly branch: Branch; readonly assistantId: string },
): SavedMessage & { readonly messageId: string } {
  const stored: StoredForm = { role, turnId, schema: content.schemaName, data: content.json, branch: place };
  return {
    messageId,
    ...(id.safeParse(turnId).success ? { requestId: turnId } : {}),
    ...speakerOf(role, assistantId),
    type: 'text',
    props: { content: textOf(content) },
    metadata: withForm(namedRole(role), 'atomic', stored),
  };
}

/**
 * The closed messages of a chat as a history has them. What others wrote is plain conversation: its turn is that which made
 * it; where there was none a message of a user begins one, and what follows belongs to it.
 */
export function readRows(messages: readonly Message[], schemas: Schemas): Row[] {
  const rows: Row[] = [];
  let turnId: string | null = null;
  for (const message of messages) {
    if (message.state !== 'closed') continue;
    const stored = storedOf(message);
    if (!stored && !isSaid(message)) continue;
    if (stored) turnId = stored.turnId;
    else if (message.requestId !== null) turnId = message.requestId;
    else if (message.role === 'user' || turnId === null) turnId = message.messageId;
    const { messageId, sequence } = message;
    const content = contentOf(message, stored, schemas);
    const role = stored?.role ?? roleOf(message);
    rows.push({
      messageId,
      sequence,
      branch: stored?.branch ?? null,
      message: Object.freeze({ role, content, turnId }),
    });
  }
  return rows;
}

/** Null for what others wrote. */
const storedOf = (message: Message): StoredForm | null =>
  storedForm.safeParse(keptForm(message, 'atomic')).data ?? null;

function contentOf(message: Message, stored: StoredForm | null, schemas: Schemas): SchemaInstance {
  const shown = shownText(message);
  if (stored && shown !== null) {
    const content = admitted(schemas, stored.schema, stored.data);
    if (content && textOf(content) === shown) return content;
    const edited = content && admitted(schemas, stored.schema, { ...content.json, ...changeOf(content, shown) });
    // Shown again as it was edited, or else the edit would be lost.
    if (edited && textOf(edited) === shown) return edited;
  }
  const schema = message.role === 'user' ? 'BasicChatInputSchema' : 'BasicChatOutputSchema';
  return schemas.read(schema, { chat_message: wordsOf(message) });
}

/** Null for what this registry does not know, or knows otherwise by now: people see its text, and so does the model. */
function admitted(schemas: Schemas, schema: string, data: unknown): SchemaInstance | null {
  try {
    return schemas.read(schema, data);
  } catch (error) {
    if (error instanceof ValueError) return null;
    throw error;
  }
}

/** The fields that an edited text stands for. */
function changeOf({ json }: SchemaInstance, text: string): object {
  if (typeof json['chat_message'] === 'string') return { chat_message: text };
  try {
    const fields: unknown = JSON.parse(text);
    return fields !== null && typeof fields === 'object' ? fields : {};
  } catch {
    return {};
  }
}

/** What people see: the words of a chat message; of other content its JSON text. */
function textOf({ json, data }: SchemaInstance): string {
  const words = json['chat_message'];
  return typeof words === 'string' ? words : jsonText(data);
}
