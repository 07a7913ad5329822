import { isJsonObject, STORES, type JsonObject, type Message } from '../protocol/index.js';

/** What a room keeps of a message, whoever spoke it: only somebody who may change the chat can have written it (ACC-5). */
export function keptForm({ metadata }: Pick<Message, 'metadata'>, room: string): JsonObject | null {
  const form = formsOf(metadata)[room];
  return isJsonObject(form) ? form : null;
}

/** The metadata with what a room keeps in it, beside what else is there. */
export const withForm = (metadata: JsonObject | null, room: string, form: JsonObject): JsonObject => ({
  ...metadata,
  [STORES]: { ...formsOf(metadata), [room]: form },
});

function formsOf(metadata: JsonObject | null): JsonObject {
  const forms = metadata?.[STORES];
  return isJsonObject(forms) ? forms : {};
}
