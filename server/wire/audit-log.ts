import { agentCommands, commands, type ErrorCode } from '../../protocol/index.js';
import type { Log } from '../log.js';
import type { Identity } from '../session/identity.js';

/** Where something came from. */
export interface Origin {
  /** Of whom sent it, as far as trusted proxies say. */
  readonly address: string;
  /** Of a socket. */
  readonly connectionId?: string;
  /** Of a request: what `x-request-id` says. */
  readonly http?: { readonly id: unknown };
}

/** Who sends a command, and from where. */
export interface Caller {
  readonly identity: Identity;
  readonly origin: Origin;
}

/** What is told of a command beside who gave it: names and marks. What people and assistants say is never among them. */
const TOLD = [
  ...['chatId', 'requestId', 'attempt', 'messageId', 'messageIds', 'assistantId', 'regenerate', 'onBusy'],
  ...['share', 'public', 'status', 'created', 'duplicate', 'agentId', 'assistants', 'userId', 'jti', 'connections'],
];

/** Who did what, and who was not let in: lines of the level `audit` (docs/decisions/0064). */
export interface AuditLog {
  /** A command that the table marks as audited; others are not told. */
  command(name: string, caller: Caller, outcome: 'ok' | ErrorCode, args: unknown, result?: unknown): void;
  /** Somebody could not say who they are, or may not come in. */
  refused(origin: Origin, code: ErrorCode, reason: string): void;
}

export function createAuditLog(log: Log): AuditLog {
  return {
    command(name, { identity, origin }, outcome, args, result) {
      if (!isAudited(name)) return;
      const { userId, teamId, tenantId, token } = identity;
      const by = { userId, teamId, tenantId, ...(token === null ? {} : { tokenId: token.tokenId }) };
      log.audit({ command: name, outcome, by, from: origin, about: aboutOf(args, result) }, 'audit');
    },
    refused(origin, code, reason) {
      log.audit({ command: 'connect', outcome: code, from: origin, reason }, 'audit');
    },
  };
}

const isAudited = (name: string): boolean => {
  const rows: Readonly<Record<string, { readonly audited: boolean }>> = { ...agentCommands, ...commands };
  return Object.hasOwn(rows, name) && (rows[name]?.audited ?? false);
};

/** What the arguments name, over it what the result says of the turn or chat that it was about. */
function aboutOf(args: unknown, result: unknown): Record<string, unknown> {
  const { turn, chat, message, ...rest } = fieldsOf(result);
  const said = { ...fieldsOf(args), ...idsOf(turn), ...idsOf(chat), ...idsOf(message), ...fieldsOf(rest) };
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

const fieldsOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
