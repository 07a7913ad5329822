import * as z from 'zod';
import { chat, chatPatch, chatStatus, mode, share, title } from './chat.js';
import { command, type CommandSpec } from './command.js';
import { bearerToken, tokenId } from './connection.js';
import { chatEvent } from './event.js';
import { assistantId, id, isoTime, principalId } from './ids.js';
import { json, jsonObject } from './json.js';
import { message, messageType, role, savedMessage, storedType, turnInput } from './message.js';
import { metadata } from './metadata.js';
import { position } from './position.js';
import { presentUser } from './presence.js';
import { givenStepMetadata, savedStep, step, stepStatus } from './step.js';
import { turn } from './turn.js';
import { wellFormed } from './text.js';

const limit = z.int().min(1).max(200);
const sequence = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const page = {
  limit: limit.default(50).meta({ description: 'At most this many; alone: the newest, ascending.' }),
};

export const onBusy = z.enum(['enqueue', 'reject', 'interrupt', 'parallel']);
export type OnBusy = z.infer<typeof onBusy>;

const turnStartArgs = z
  .object({
    chatId: id,
    input: turnInput.optional(),
    regenerate: id.optional(),
    requestId: id.optional(),
    assistantId: assistantId.optional(),
    onBusy: onBusy.default('enqueue'),
    createChat: z.boolean().default(false),
    metadata: metadata.optional(),
  })
  .refine((args) => (args.input === undefined) !== (args.regenerate === undefined), {
    error: 'expected either input or regenerate',
    path: ['input'],
  });

const messageFilter = {
  requestId: id.optional(),
  role: role.optional(),
  blockId: id.optional(),
  threadId: id.optional(),
  type: messageType.optional(),
};

/** Until there is a message the last one's time is that of creation. */
const timeField = z.enum(['lastMessageAt', 'createdAt', 'updatedAt']);

/** Saved at a time: so many stay far below what holds a chat up. */
const MAX_SAVED = 1000;

const subscribeResult = z.object({
  chat,
  position,
  mode: z.enum(['snapshot', 'replay']),
  events: z.array(chatEvent).optional(),
  messages: z.array(message).optional(),
  hasMore: z.boolean().optional(),
  turns: z.array(turn).optional(),
  presence: z.array(presentUser),
});

/**
 * Section 4 and 8 in one table: name → arguments, result, right, HTTP route. Socket dispatch, HTTP routes, the client's
 * types, OpenAPI and AsyncAPI are all made from it.
 */
export const commands = {
  'chat:create': command({
    summary: 'Creates a chat; the same chatId again by its owner gives the existing one.',
    args: z.object({
      chatId: id.optional(),
      assistantId,
      title: title.nullable().optional(),
      status: chatStatus.optional(),
      mode: mode.optional(),
      preset: z.boolean().optional(),
      public: z.boolean().optional(),
      share: share.optional(),
      sort: chatPatch.shape.sort,
      metadata: metadata.optional(),
      createdAt: isoTime
        .optional()
        .meta({ description: 'For one that began elsewhere. Default, and at the latest: now.' }),
    }),
    result: z.object({ chat, created: z.boolean() }),
    right: 'any',
    audited: true,
    http: { method: 'post', path: '/v1/chats', status: (result) => (result.created ? 201 : 200) },
  }),
  'chat:list': command({
    summary: 'Lists chats, newest activity first.',
    args: z.object({
      scope: z.enum(['mine', 'team', 'public', 'all']).default('mine'),
      assistantId: assistantId.optional(),
      status: chatStatus.optional(),
      keywords: z
        .string()
        .max(500)
        .transform(wellFormed)
        .optional()
        .meta({ description: 'A literal, case-insensitive part of the title.' }),
      createdBy: principalId.optional().meta({ description: 'Only those of this user.' }),
      teamId: principalId.optional().meta({ description: 'Only those of this team.' }),
      startTime: z.iso.datetime({ offset: true }).optional().meta({ description: 'Only from this time on.' }),
      endTime: z.iso.datetime({ offset: true }).optional().meta({ description: 'Only up to this time.' }),
      timeField: timeField.optional().meta({ description: 'What these are compared with. Default: lastMessageAt.' }),
      orderBy: timeField.default('lastMessageAt'),
      order: z.enum(['asc', 'desc']).default('desc'),
      page: z.int().min(1).max(1_000_000).default(1),
      pageSize: z.int().min(1).max(100).default(20),
    }),
    result: z.object({ data: z.array(chat), page: z.int(), pageSize: z.int(), pageCount: z.int(), total: z.int() }),
    right: 'any',
    http: { method: 'get', path: '/v1/chats' },
  }),
  'chat:get': command({
    summary: 'Gives one chat.',
    args: z.object({ chatId: id }),
    result: z.object({ chat }),
    right: 'read',
    http: { method: 'get', path: '/v1/chats/:chatId' },
  }),
  'chat:update': command({
    summary: 'Changes fields of a chat.',
    args: z.object({ chatId: id, ...chatPatch.shape }),
    result: z.object({ chat }),
    right: 'change',
    audited: true,
    http: { method: 'patch', path: '/v1/chats/:chatId' },
  }),
  'chat:delete': command({
    summary: 'Ends the turns of a chat and hides it with all that it holds, for good.',
    args: z.object({ chatId: id }),
    result: z.object({ chatId: id }),
    right: 'change',
    audited: true,
    http: { method: 'delete', path: '/v1/chats/:chatId' },
  }),
  'chat:subscribe': command({
    summary: 'Follows a chat: a snapshot or what was missed, then every event.',
    args: z.object({ chatId: id, position: position.optional(), messageLimit: limit.default(50) }),
    result: subscribeResult,
    right: 'read',
  }),
  'chat:unsubscribe': command({
    summary: 'Follows a chat no more.',
    args: z.object({ chatId: id }),
    result: z.object({ chatId: id }),
    right: 'any',
  }),
  'message:list': command({
    summary: 'Gives messages of a chat, ascending by sequence.',
    args: z.object({
      chatId: id,
      ...page,
      before: sequence.optional().meta({ description: 'Only sequences below this one.' }),
      after: sequence.optional().meta({ description: 'Only sequences above this one, the nearest first.' }),
      offset: z.int().min(0).max(1_000_000_000).optional().meta({ description: 'Skips this many from the oldest.' }),
      ...messageFilter,
      withRevision: z.boolean().optional().meta({ description: 'Asks for `revision`.' }),
    }),
    result: z.object({
      messages: z.array(message),
      hasMore: z.boolean(),
      position,
      revision: z.string().optional().meta({
        description: 'While it is the same, closed messages were only added, behind all that were there (CMD-5).',
      }),
    }),
    right: 'read',
    http: { method: 'get', path: '/v1/chats/:chatId/messages' },
  }),
  'message:save': command({
    summary: 'Adds closed messages that no turn made, all or none; the same messageId again adds nothing.',
    args: z.object({ chatId: id, messages: z.array(savedMessage).max(MAX_SAVED) }),
    result: z.object({ messages: z.array(message) }),
    right: 'change',
    audited: true,
    http: { method: 'post', path: '/v1/chats/:chatId/messages', status: () => 201 },
  }),
  'message:update': command({
    summary: 'Edits a closed message.',
    args: z
      .object({
        messageId: id,
        props: jsonObject.optional(),
        type: storedType.optional(),
        metadata: metadata.optional(),
      })
      .refine((args) => args.props !== undefined || args.type !== undefined || args.metadata !== undefined, {
        error: 'expected props, type or metadata',
        path: ['props'],
      }),
    result: z.object({ message }),
    right: 'change',
    audited: true,
    http: { method: 'patch', path: '/v1/messages/:messageId' },
  }),
  'message:delete': command({
    summary: 'Deletes messages of a chat.',
    args: z.object({ chatId: id, messageIds: z.array(id).min(1).max(1000) }),
    result: z.object({ messageIds: z.array(id) }),
    right: 'change',
    audited: true,
    http: { method: 'delete', path: '/v1/chats/:chatId/messages' },
  }),
  'turn:start': command({
    summary: 'Starts a turn; once per requestId, for ever.',
    args: turnStartArgs,
    result: z.object({ turn, messages: z.array(message), duplicate: z.boolean() }),
    right: 'talk',
    audited: true,
    http: { method: 'post', path: '/v1/chats/:chatId/turns', status: () => 202 },
  }),
  'turn:stop': command({
    summary: 'Stops a turn; without requestId the running foreground turn.',
    args: z
      .object({ chatId: id.optional(), requestId: id.optional() })
      .refine((args) => args.chatId !== undefined || args.requestId !== undefined, {
        error: 'expected chatId or requestId',
        path: ['chatId'],
      }),
    result: z.object({ turn }),
    right: 'talk',
    audited: true,
    http: { method: 'post', path: '/v1/turns/:requestId/stop' },
  }),
  'turn:resume': command({
    summary: 'Starts the next attempt of an incomplete turn; without requestId of the newest one.',
    args: z
      .object({ chatId: id.optional(), requestId: id.optional(), attempt: z.int().min(1).optional() })
      .refine((args) => args.chatId !== undefined || args.requestId !== undefined, {
        error: 'expected chatId or requestId',
        path: ['chatId'],
      }),
    result: z.object({ turn, duplicate: z.boolean() }),
    right: 'talk',
    audited: true,
    http: { method: 'post', path: '/v1/turns/:requestId/resume', status: () => 202 },
  }),
  'turn:get': command({
    summary: 'Gives one turn.',
    args: z.object({ requestId: id }),
    result: z.object({ turn }),
    right: 'read',
    http: { method: 'get', path: '/v1/turns/:requestId' },
  }),
  'turn:list': command({
    summary: 'Gives the turns of a chat, newest first.',
    args: z.object({ chatId: id, before: id.optional(), ...page }),
    result: z.object({ turns: z.array(turn), hasMore: z.boolean() }),
    right: 'read',
    http: { method: 'get', path: '/v1/chats/:chatId/turns' },
  }),
  'step:list': command({
    summary: 'Gives the steps of a turn, ascending.',
    args: z.object({ requestId: id }),
    result: z.object({ steps: z.array(step) }),
    right: 'talk',
    http: { method: 'get', path: '/v1/turns/:requestId/steps' },
  }),
  'step:save': command({
    summary: 'Records steps that ran elsewhere, all or none; the same stepId again changes it.',
    args: z.object({ chatId: id, steps: z.array(savedStep).max(MAX_SAVED) }),
    result: z.object({ steps: z.array(step) }),
    right: 'change',
    audited: true,
    http: { method: 'post', path: '/v1/chats/:chatId/steps', status: () => 201 },
  }),
  'step:update': command({
    summary: 'Changes a recorded step; a completed one stays completed.',
    args: z
      .object({
        stepId: id,
        status: stepStatus.optional(),
        output: json.optional(),
        error: json.optional(),
        spaceSnapshot: jsonObject.nullable().optional(),
        metadata: givenStepMetadata.optional(),
      })
      .refine((args) => Object.keys(args).some((key) => key !== 'stepId'), {
        error: 'expected status, output, error, spaceSnapshot or metadata',
        path: ['status'],
      }),
    result: z.object({ step }),
    right: 'change',
    audited: true,
    http: { method: 'patch', path: '/v1/steps/:stepId' },
  }),
  'step:stack': command({
    summary: 'Gives the steps of one stack, ascending.',
    args: z.object({ stackId: id }),
    result: z.object({ steps: z.array(step) }),
    right: 'talk',
    http: { method: 'get', path: '/v1/stacks/:stackId/steps' },
  }),
  'step:path': command({
    summary: 'Gives the stack ids from the root to this stack.',
    args: z.object({ stackId: id }),
    result: z.object({ path: z.array(id) }),
    right: 'talk',
    http: { method: 'get', path: '/v1/stacks/:stackId/path' },
  }),
  'step:incomplete': command({
    summary: 'Gives the step at which the newest incomplete turn stopped, or null.',
    args: z.object({ chatId: id }),
    result: z.object({ step: step.nullable() }),
    right: 'talk',
    http: { method: 'get', path: '/v1/chats/:chatId/incomplete-step' },
  }),
  typing: command({
    summary: 'Tells the others in a chat whether the caller is typing.',
    args: z.object({ chatId: id, typing: z.boolean() }),
    result: z.object({}),
    right: 'talk',
  }),
  'auth:refresh': command({
    summary: 'Renews the identity of this connection in place; the same user only.',
    args: z.object({ token: bearerToken }),
    result: z.object({ expiresAt: z.string().nullable() }),
    right: 'any',
  }),
  'admin:revoke': command({
    summary: 'Shuts out a user, or one token, of the tenant: live connections end, what was issued before is refused.',
    args: z
      .object({ userId: principalId.optional(), jti: tokenId.optional() })
      .refine((args) => (args.userId === undefined) !== (args.jti === undefined), {
        error: 'expected either userId or jti',
        path: ['userId'],
      }),
    result: z.object({ connections: z.int() }),
    right: 'admin',
    audited: true,
    socket: false,
    http: { method: 'post', path: '/v1/admin/revoke' },
  }),
} as const satisfies Record<string, CommandSpec>;

export type Commands = typeof commands;
export type CommandName = keyof Commands;
/** The commands that act on chats; the others act on the connection that sends them, or on all of a user's. */
export type ChatCommandName = Exclude<
  CommandName,
  'chat:subscribe' | 'chat:unsubscribe' | 'typing' | 'auth:refresh' | 'admin:revoke'
>;
/**
 * Runs commands of the table as one caller: a `ChatClient` over the network, `Turnstream.as` within the process. What is
 * written against it (`stores/`) runs on both.
 */
export interface ChatCommands {
  /** @throws {ChatError} as the command says */
  call<N extends ChatCommandName>(name: N, args: ArgsInput<N>): Promise<Result<N>>;
}
/** Arguments as a caller writes them. */
export type ArgsInput<N extends CommandName> = z.input<Commands[N]['args']>;
/** Arguments as a handler receives them. */
export type Args<N extends CommandName> = z.output<Commands[N]['args']>;
export type Result<N extends CommandName> = z.output<Commands[N]['result']>;
export type SubscribeResult = z.infer<typeof subscribeResult>;
export type MessageFilter = z.infer<z.ZodObject<typeof messageFilter>>;
