import * as z from 'zod';
import { wellFormed } from '../../protocol/index.js';
import type { HistoryMessage } from './base-chat-history.js';
import type { SchemaRegistry } from './schema-registry.js';
import { ValueError } from './value-error.js';

/** All that a history is, apart from where it is stored. */
export interface HistoryState {
  readonly messages: readonly HistoryMessage[];
  /** Null: as many as come. */
  readonly maxMessages: number | null;
  readonly currentTurnId: string | null;
}

/** How many a history may hold. */
export const maxMessages = z.int().min(0).nullable();

const text = z.string().transform(wellFormed);
/** The framework's own form. */
const dumpForm = z.object({
  history: z.array(
    z.object({ role: text, content: z.object({ class_name: z.string(), data: z.string() }), turn_id: text.nullable() }),
  ),
  max_messages: maxMessages,
  current_turn_id: text.nullable(),
});

/** The state as JSON text in the framework's own form; non-ASCII stands unescaped. */
export function dumpOf({ messages, maxMessages: max, currentTurnId }: HistoryState): string {
  const form: z.infer<typeof dumpForm> = {
    history: messages.map(({ role, content, turnId }) => ({
      role,
      content: { class_name: content.schemaName, data: JSON.stringify(content.json) },
      turn_id: turnId,
    })),
    max_messages: max,
    current_turn_id: currentTurnId,
  };
  return JSON.stringify(form);
}

/** The state that a dump holds. @throws {ValueError} no JSON, another form, an unknown schema, content that does not fit its schema */
export function readDump(serialized: string, schemas: Pick<SchemaRegistry, 'read'>): HistoryState {
  const form = dumpForm.safeParse(parsed(serialized));
  if (!form.success) throw new ValueError(`Invalid serialized data: ${z.prettifyError(form.error)}`);
  const { history, max_messages, current_turn_id } = form.data;
  return {
    messages: history.map(({ role, content, turn_id }) =>
      Object.freeze({ role, content: schemas.read(content.class_name, parsed(content.data)), turnId: turn_id }),
    ),
    maxMessages: max_messages,
    currentTurnId: current_turn_id,
  };
}

function parsed(serialized: unknown): unknown {
  if (typeof serialized !== 'string') throw new ValueError('Invalid serialized data: expected text.');
  try {
    return JSON.parse(serialized);
  } catch (error) {
    throw new ValueError(`Invalid serialized data: ${String(error)}`, { cause: error });
  }
}
