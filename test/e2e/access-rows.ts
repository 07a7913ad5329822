import { EVENTS_PATH } from '../../server/wire/http/server-sent-events.js';
import type { AgentCommandName, CommandName } from '../../protocol/index.js';
import { tokenFor } from '../harness/tokens.js';
import { tokenOf, RIGHTS, type Caller, type Kind, type Place } from './access-callers.js';

/** How each command is asked in the matrix, and what ACC-1 to ACC-4 and CMD-1 say it answers. */

type Args = Record<string, unknown>;

export interface Row {
  /** `by` marks what the caller does. */
  readonly args: (place: Place, by: string, caller: Caller) => Args | Promise<Args>;
  /** `ok`, or the code of the refusal. */
  readonly expects: (caller: Caller, kind: Kind) => string;
}

/** CMD-1: unreadable as if it were not there; readable, but not to talk in or to change: forbidden. */
const needs =
  (right: 'r' | 't' | 'c', { held = 'ok', unreadable = 'not_found' } = {}) =>
  (caller: Caller, kind: Kind): string => {
    const rights = RIGHTS[caller][kind];
    if (rights.includes(right)) return held;
    return rights.includes('r') ? 'forbidden' : unreadable;
  };

const everybody = (): string => 'ok';
const admins = (caller: Caller): string => (caller.startsWith('admin') ? 'ok' : 'forbidden');

/** One of each at least. What destroys comes last. */
export const ROWS: Readonly<Record<CommandName, readonly Row[]>> = {
  'chat:create': [
    {
      args: ({ chatId }) => ({ chatId, assistantId: 'echo' }),
      expects: (caller, kind) => (caller === 'owner' && kind !== 'deleted' ? 'ok' : 'conflict'),
    },
  ],
  'chat:list': [{ args: () => ({ scope: 'all' }), expects: everybody }],
  'chat:get': [{ args: ({ chatId }) => ({ chatId }), expects: needs('r') }],
  'chat:subscribe': [{ args: ({ chatId }) => ({ chatId }), expects: needs('r') }],
  'chat:unsubscribe': [{ args: ({ chatId }) => ({ chatId }), expects: everybody }],
  'message:list': [{ args: ({ chatId }) => ({ chatId }), expects: needs('r') }],
  'turn:get': [{ args: ({ requestId }) => ({ requestId }), expects: needs('r') }],
  'turn:list': [{ args: ({ chatId }) => ({ chatId }), expects: needs('r') }],
  'turn:start': [
    {
      args: ({ chatId }) => ({ chatId, input: 'x', onBusy: 'parallel', assistantId: 'echo' }),
      expects: needs('t'),
    },
    {
      args: ({ chatId }) => ({ chatId, input: 'x', onBusy: 'parallel', assistantId: 'echo', createChat: true }),
      expects: needs('t', { unreadable: 'conflict' }),
    },
    // It is not the newest turn: who may start is told so.
    { args: ({ chatId, requestId }) => ({ chatId, regenerate: requestId }), expects: needs('t', { held: 'conflict' }) },
  ],
  'turn:stop': [
    { args: ({ requestId }) => ({ requestId }), expects: needs('t') },
    { args: ({ chatId, requestId }) => ({ chatId, requestId }), expects: needs('t') },
  ],
  'turn:resume': [
    { args: ({ requestId }) => ({ requestId }), expects: needs('t', { held: 'turn_not_resumable' }) },
    { args: ({ chatId, requestId }) => ({ chatId, requestId }), expects: needs('t', { held: 'turn_not_resumable' }) },
  ],
  'step:list': [{ args: ({ requestId }) => ({ requestId }), expects: needs('t') }],
  'step:stack': [{ args: ({ stackId }) => ({ stackId }), expects: needs('t') }],
  'step:path': [{ args: ({ stackId }) => ({ stackId }), expects: needs('t') }],
  'step:incomplete': [{ args: ({ chatId }) => ({ chatId }), expects: needs('t') }],
  typing: [{ args: ({ chatId }) => ({ chatId, typing: true }), expects: needs('t') }],
  'chat:update': [{ args: ({ chatId }, by) => ({ chatId, title: by }), expects: needs('c') }],
  'message:save': [
    {
      args: ({ chatId }, by) => ({ chatId, messages: [{ role: 'user', type: 'text', props: { content: by } }] }),
      expects: needs('c'),
    },
  ],
  'step:save': [
    {
      args: ({ chatId }, by) => ({
        chatId,
        steps: [
          {
            requestId: `${chatId}-saved`,
            assistantId: 'elsewhere',
            stackId: 'elsewhere',
            type: 'llm',
            status: 'completed',
            output: by,
          },
        ],
      }),
      expects: needs('c'),
    },
  ],
  'step:update': [{ args: ({ stepId }, by) => ({ stepId, metadata: { by } }), expects: needs('c') }],
  'message:update': [{ args: ({ messageId }, by) => ({ messageId, metadata: { by } }), expects: needs('c') }],
  'message:delete': [
    { args: ({ chatId, doomedMessage }, by) => ({ chatId, messageIds: [doomedMessage(by)] }), expects: needs('c') },
  ],
  'chat:delete': [{ args: ({ doomedChat }, by) => ({ chatId: doomedChat(by) }), expects: needs('c') }],
  'auth:refresh': [{ args: async (_place, _by, caller) => ({ token: await tokenOf(caller) }), expects: everybody }],
  // The caller's own tenant has nobody of this name.
  'admin:revoke': [{ args: () => ({ userId: 'nobody' }), expects: admins }],
};

/** The routes that stand for no command; their parameters are named as arguments are. */
export const OTHER_ROUTES: readonly (Row & { readonly path: string })[] = [
  { path: EVENTS_PATH, args: ({ chatId }) => ({ chatId }), expects: needs('r') },
];

/**
 * The protocols of other frontends: each request is commands of the table, done as its caller, so what they may do is in the rows above.
 * That they ask as nobody else is in `ag-ui-refusals` and `ai-sdk-refusals`.
 */
export const SPOKEN_ROUTES = [
  ...['/v1/ag-ui', '/v1/ag-ui/:assistantId'].flatMap((path) => [path, `${path}/connect`, `${path}/stop`]),
  '/v1/ai-sdk/chat',
  ...['messages', 'stop', 'stream'].map((what) => `/v1/ai-sdk/chat/:chatId/${what}`),
];

/** What operators ask for: nobody has to say who they are, and none of it tells of a chat. */
export const OPERATIONS = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/asyncapi.json', '/docs'];

/** What is named through a chat of one's own, or the other way round: no way round to what may not be seen. */
export const CROSSED: readonly {
  readonly name: CommandName;
  readonly args: (place: Place, own: Place) => Args;
}[] = [
  { name: 'turn:stop', args: ({ requestId }, { chatId }) => ({ chatId, requestId }) },
  { name: 'turn:stop', args: ({ chatId }, { requestId }) => ({ chatId, requestId }) },
  { name: 'turn:resume', args: ({ requestId }, { chatId }) => ({ chatId, requestId }) },
  { name: 'turn:resume', args: ({ chatId }, { requestId }) => ({ chatId, requestId }) },
  { name: 'turn:list', args: ({ requestId }, { chatId }) => ({ chatId, before: requestId }) },
  { name: 'message:list', args: ({ requestId }, { chatId }) => ({ chatId, requestId }) },
  { name: 'message:delete', args: ({ messageId }, { chatId }) => ({ chatId, messageIds: [messageId] }) },
  { name: 'message:delete', args: ({ chatId }, { messageId }) => ({ chatId, messageIds: [messageId] }) },
  { name: 'turn:start', args: ({ requestId }, { chatId }) => ({ chatId, regenerate: requestId }) },
  { name: 'turn:start', args: ({ chatId }, { requestId }) => ({ chatId, regenerate: requestId }) },
];

/** Agents on `/agents`. */
export interface Worker {
  readonly as: {
    readonly userId: string;
    readonly teamId?: string;
    readonly tenantId?: string;
    readonly roles: string[];
  };
  /** What its token lists; undefined: nothing, which is anything. */
  readonly lists?: readonly string[];
  /** What it attached, if anything. */
  readonly offers: string | null;
  readonly agentId: string;
}

export const tokenOfWorker = ({ as, lists }: Worker): Promise<string> =>
  tokenFor(as, lists ? { assistants: lists } : {});

const AGENT = { userId: 'agent', tenantId: 'n1', roles: ['agent'] };

/** The first holds the turn. */
export const WORKERS = {
  holder: { as: AGENT, lists: ['bot'], offers: 'bot', agentId: 'a1' },
  'another of the same user': { as: AGENT, lists: ['bot'], offers: 'bot', agentId: 'a2' },
  'agent of this assistant': { as: { ...AGENT, userId: 'second' }, lists: ['bot'], offers: 'bot', agentId: 'a1' },
  'agent of another': { as: { ...AGENT, userId: 'worker' }, lists: ['other'], offers: 'other', agentId: 'a1' },
  'agent of any': { as: { ...AGENT, userId: 'anything' }, offers: 'other', agentId: 'a1' },
  'not attached': { as: { ...AGENT, userId: 'new' }, lists: ['bot'], offers: null, agentId: 'a1' },
  'the owner as an agent': {
    as: { userId: 'owner', teamId: 't1', tenantId: 'n1', roles: ['user', 'agent'] },
    lists: ['bot'],
    offers: 'bot',
    agentId: 'a1',
  },
  'an admin as an agent': {
    as: { userId: 'root', tenantId: 'n1', roles: ['admin', 'agent'] },
    lists: ['other'],
    offers: 'other',
    agentId: 'a1',
  },
  'agent of another tenant': { as: { ...AGENT, tenantId: 'n2' }, lists: ['bot'], offers: 'bot', agentId: 'a1' },
  'agent of no tenant': { as: { userId: 'agent', roles: ['agent'] }, lists: ['bot'], offers: 'bot', agentId: 'a1' },
} satisfies Record<string, Worker>;
export type WorkerName = keyof typeof WORKERS;

/** ACC-3, written out: s may serve the assistant, a has attached it, o attached something, t of the tenant, h holds. */
export const STANDING: Record<WorkerName, string> = {
  holder: 'saoth',
  'another of the same user': 'saot',
  'agent of this assistant': 'saot',
  'agent of another': 'ot',
  'agent of any': 'sot',
  'not attached': 'st',
  'the owner as an agent': 'saot',
  'an admin as an agent': 'ot',
  'agent of another tenant': 'sao',
  'agent of no tenant': 'sao',
};

/** What commands of agents name. */
export interface Work {
  readonly chatId: string;
  /** Of the same kind, without a turn of anybody. */
  readonly otherChatId: string;
  readonly frame: { readonly requestId: string; readonly attempt: number; readonly stackId?: string };
  /** The seq that the holder's first command here has. */
  readonly seq: number;
}

export interface AgentRow {
  readonly args: (work: Work, worker: Worker) => Args | Promise<Args>;
  readonly expects: (standing: string, kind: Kind) => string;
}

/** Only the holder writes (AGT-3); of another tenant's turns, and of deleted chats', nothing is known. */
const holding = (standing: string, kind: Kind): string => {
  if (kind === 'deleted' || !standing.includes('t')) return 'not_found';
  return standing.includes('h') ? 'ok' : 'stale_attempt';
};
/** It reads where it holds a turn, and nobody else does. */
const working = (standing: string, kind: Kind): string => {
  if (!standing.includes('o')) return 'forbidden';
  return standing.includes('h') && kind !== 'deleted' ? 'ok' : 'not_found';
};
const opening =
  (unreadable: string) =>
  (standing: string, kind: Kind): string => {
    if (!standing.includes('a')) return 'forbidden';
    return standing.includes('t') && kind !== 'deleted' ? 'ok' : unreadable;
  };

/** In the order in which each agent asks: what changes its standing comes last. */
export const AGENT_ROWS: Readonly<Record<AgentCommandName, readonly AgentRow[]>> = {
  'chat:get': [{ args: ({ chatId }) => ({ chatId }), expects: working }],
  'message:list': [{ args: ({ chatId }) => ({ chatId }), expects: working }],
  'turn:input': [{ args: ({ frame }) => ({ requestId: frame.requestId }), expects: working }],
  'turn:push': [{ args: ({ frame, seq }) => ({ ...frame, seq, ops: [] }), expects: holding }],
  'turn:delegate': [
    {
      args: ({ frame, seq }) => ({ ...frame, seq: seq + 1, assistantId: 'echo', input: 'x' }),
      expects: holding,
    },
  ],
  'turn:open': [
    { args: ({ otherChatId }) => ({ chatId: otherChatId, assistantId: 'bot' }), expects: opening('not_found') },
    {
      args: ({ otherChatId }) => ({ chatId: otherChatId, assistantId: 'bot', createChat: { createdBy: 'owner' } }),
      expects: opening('conflict'),
    },
  ],
  'auth:refresh': [{ args: async (_work, worker) => ({ token: await tokenOfWorker(worker) }), expects: everybody }],
  'agent:attach': [
    {
      args: (_work, { agentId }) => ({ agentId, assistants: [{ assistantId: 'bot' }] }),
      expects: (standing) => (standing.includes('s') ? 'ok' : 'forbidden'),
    },
  ],
  'turn:close': [{ args: ({ frame, seq }) => ({ ...frame, seq: seq + 2, status: 'completed' }), expects: holding }],
};
