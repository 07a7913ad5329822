import { isJsonObject, type ErrorCode } from '../../protocol/index.js';
import type { Log } from '../log.js';
import type { Caller, Provenance } from './caller.js';

/** What is told of a command beside who gave it: names and marks. What people and assistants say is never among them. */
const TOLD = [
  'chatId',
  'requestId',
  'attempt',
  'messageId',
  'messageIds',
  'assistantId',
  'regenerate',
  'onBusy',
  'createdBy',
  'teamId',
  'share',
  'public',
  'status',
  'created',
  'duplicate',
  'agentId',
  'assistants',
  'userId',
  'jti',
  'connections',
];

/** Who did what, and who was not let in: lines of the level `audit` (docs/decisions/0064). */
export interface AuditLog {
  /** A command that the table marks as audited. */
  command(name: string, caller: Caller, outcome: 'ok' | ErrorCode, args: unknown, result?: unknown): void;
  /** Somebody could not say who they are, or may not come in. */
  refused(from: Provenance, code: ErrorCode, reason: string): void;
}

export function createAuditLog(log: Log): AuditLog {
  return {
    command(name, { identity, from }, outcome, args, result) {
      const { userId, teamId, tenantId, token } = identity;
      const by = { userId, teamId, tenantId, ...(token === null ? {} : { tokenId: token.tokenId }) };
      log.audit({ command: name, outcome, by, from, about: aboutOf(args, result) }, 'audit');
    },
    refused(from, code, reason) {
      log.audit({ command: 'connect', outcome: code, from, reason }, 'audit');
    },
  };
}

/** What the arguments name, over it what the result says of the turn or chat that it was about. */
function aboutOf(args: unknown, result: unknown): Record<string, unknown> {
  const { turn, chat, message, ...rest } = fieldsOf(result);
  const { assistants, createChat, ...given } = fieldsOf(args);
  const said: Record<string, unknown> = {
    ...given,
    ...fieldsOf(createChat),
    ...(Array.isArray(assistants) ? { assistants: assistants.map((one) => fieldsOf(one)['assistantId']) } : {}),
    ...idsOf(turn),
    ...idsOf(chat),
    ...idsOf(message),
    ...rest,
  };
  return Object.fromEntries(TOLD.flatMap((name) => (said[name] === undefined ? [] : [[name, said[name]]])));
}

/** Of a chat, turn or message only what names it: the rest was not changed by this command. */
function idsOf(value: unknown): Record<string, unknown> {
  const { chatId, requestId, attempt, messageId } = fieldsOf(value);
  return {
    ...(chatId ? { chatId } : {}),
    ...(requestId ? { requestId, attempt } : {}),
    ...(messageId ? { messageId } : {}),
  };
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {});
