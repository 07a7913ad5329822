import { isJsonObject, type ArgsInput, type Json, type JsonObject, type Message } from '../../protocol/index.js';
import { cleanCopy } from '../clean-copy.js';
import { keptForm, withForm } from '../kept-form.js';
import { namedRole, roleOf } from '../speaker.js';
import { readName, writtenName } from './agent-name.js';
import { edited, isPlainText, textOf } from './content.js';
import type { SquadContent, SquadMessage } from './conversation-message.js';

/** How a message was saved, which is what its place in a conversation hangs on. */
export interface Saving {
  readonly agentId: string;
  /** Who saved it: an answer belongs to a question of the same lane. */
  readonly lane: string;
  /** While another save to the same conversation was on its way. */
  readonly isParallel: boolean;
  /** In a batch, whose roles may repeat. */
  readonly isBatched: boolean;
  readonly max?: number;
}

/** A message of a chat that this room saved. */
export interface SquadRow extends Saving {
  readonly sequence: number;
  readonly role: string;
  readonly message: SquadMessage;
}

export type Draft = ArgsInput<'message:save'>['messages'][number];

/**
 * The message as the chat keeps it: its text is what people see; what the text does not say is kept beside it.
 *
 * @throws {TypeError} what is no message, or holds what JSON cannot
 */
export function draftOf(message: SquadMessage, saving: Saving): Draft {
  const { role, content, timestamp, ...more } = plain(message);
  if (typeof role !== 'string' || role === '') throw new TypeError('Expected a message with a role');
  const said = saidIn(content);
  const squad: Record<string, Json> = {
    ...written(saving),
    ...(isPlainText(said) ? {} : { content: content ?? null }),
    ...(Object.keys(more).length === 0 ? {} : { more }),
  };
  return {
    role: role === 'user' ? 'user' : 'assistant',
    type: 'text',
    props: { content: textOf(said) },
    ...timeOf(timestamp),
    metadata: withForm(namedRole(role), 'squad', squad),
  };
}

/** @throws {TypeError} */
function saidIn(content: Json | undefined): SquadContent {
  if (content === undefined || content === null) return undefined;
  if (typeof content === 'string' || Array.isArray(content)) return content;
  throw new TypeError('Expected the content of a message to be a list of parts');
}

const written = ({ agentId, lane, isParallel, isBatched, max }: Saving): Record<string, Json> => ({
  agentId: writtenName(agentId),
  lane,
  ...(isParallel ? { parallel: true } : {}),
  ...(isBatched ? { batch: true } : {}),
  ...(max === undefined ? {} : { max }),
});

/** What this room kept of a message; null for one that came from elsewhere. */
export function rowOf(message: Message): SquadRow | null {
  const { props, sequence } = message;
  const squad = keptForm(message, 'squad');
  if (!squad) return null;
  const agentId = readName(squad['agentId']);
  const { lane, max, more } = squad;
  if (agentId === null || typeof lane !== 'string') return null;
  const role = roleOf(message);
  return {
    sequence,
    agentId,
    lane,
    role,
    isParallel: squad['parallel'] === true,
    isBatched: squad['batch'] === true,
    ...(typeof max === 'number' ? { max } : {}),
    message: { ...(isJsonObject(more) ? more : {}), role, content: contentOf(squad, props) },
  };
}

/** The content as it was saved, or with the text that somebody has put there since. */
function contentOf(squad: JsonObject, props: JsonObject): SquadContent {
  const shown = typeof props['content'] === 'string' ? props['content'] : '';
  const kept = squad['content'];
  if (kept === undefined) return [{ text: shown }];
  const content = typeof kept === 'string' || Array.isArray(kept) ? kept : undefined;
  return textOf(content) === shown ? content : edited(content, shown);
}

/** A copy that nobody else holds. @throws {TypeError} */
function plain(message: unknown): JsonObject {
  if (!isJsonObject(message)) throw new TypeError('Expected a message');
  const refusal = (reason: string, cause?: Error): Error =>
    new TypeError(`A message cannot be kept: ${reason}`, { cause });
  return cleanCopy({ ...message }, refusal) as JsonObject;
}

/** The time that a message brings with it, where a row can show it. */
function timeOf(timestamp: Json | undefined): { createdAt?: string } {
  if (typeof timestamp !== 'number') return {};
  const time = new Date(timestamp);
  const year = time.getUTCFullYear();
  // Beyond four digits ISO 8601 writes years in another form, and a date that is none has no year.
  return year >= 0 && year <= 9999 ? { createdAt: time.toISOString() } : {};
}
