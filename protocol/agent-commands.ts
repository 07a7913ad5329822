import * as z from 'zod';
import { chat, share, title } from './chat.js';
import { agentCommand, type AgentCommandSpec, type CommandSpec } from './command.js';
import { commands } from './commands.js';
import { agentMadeId, assistantId, id, principalId } from './ids.js';
import { json, jsonObject } from './json.js';
import { message, turnInput } from './message.js';
import { metadata } from './metadata.js';
import { step, stepStatus } from './step.js';
import { wellFormed } from './text.js';
import { turn, turnError } from './turn.js';

/** The Socket.IO namespace of agents. */
export const AGENT_NAMESPACE = '/agents';

const attempt = z.int().min(1);
const seq = z.int().min(1);
/** One stack of one attempt of a turn; without stackId the root frame. */
const frame = { requestId: id, attempt, stackId: id.optional() };

export const frameEnd = z.enum(['completed', 'failed', 'interrupted']);
export type FrameEnd = z.infer<typeof frameEnd>;

const stackPath = z.array(z.object({ stackId: id, assistantId, stackDepth: z.int().min(0) }));

/** An incomplete leaf step with the call stack above it, root first. */
export const resumeStep = step.extend({ stackPath });
export type ResumeStep = z.infer<typeof resumeStep>;

/** What a frame's host needs to run it. */
export const assignment = z.object({
  turn,
  chat,
  /** Whose frame it is: the turn's assistant in the root frame, the one that was called in a child. */
  assistantId: assistantId.optional(),
  stackId: id,
  stackParentId: id.nullable(),
  stackDepth: z.int().min(0),
  input: z.array(message),
  history: z.array(message),
  space: jsonObject,
  resume: z
    .object({
      steps: z.array(resumeStep),
      completedSteps: z.array(step),
      /** The other recorded ones: callers of incomplete steps, and failed ones whose caller went on. */
      otherSteps: z.array(step).default([]),
      messages: z.array(message),
    })
    .nullable(),
});
export type Assignment = z.infer<typeof assignment>;

export const turnAbort = z.object({ requestId: id, attempt, stackId: id, reason: z.string() });
export type TurnAbort = z.infer<typeof turnAbort>;

const asForPeople = <A extends z.ZodType, R extends z.ZodType>({ summary, args, result }: CommandSpec<A, R>) => ({
  summary,
  args,
  result,
});

/** Section 6 in one table: what agents say on the namespace `/agents`, name → arguments, result, right. */
export const agentCommands = {
  'agent:attach': agentCommand({
    summary: 'Offers assistants; answers what this agentId still holds.',
    args: z.object({
      agentId: principalId,
      assistants: z
        .array(z.object({ assistantId, name: z.string().min(1).max(200).transform(wellFormed).optional() }))
        .min(1)
        .max(1000),
      concurrency: z.int().min(1).max(1000).default(10),
    }),
    result: z.object({
      assigned: z.array(z.object({ requestId: id, attempt, stackId: id, lastSeq: z.int().min(0) })),
    }),
    right: 'serve',
    audited: true,
  }),
  'turn:open': agentCommand({
    summary: 'Opens a background turn that no person started.',
    args: z.object({
      chatId: id,
      assistantId,
      requestId: id.optional(),
      createChat: z
        .object({
          createdBy: principalId,
          title: title.nullable().optional(),
          teamId: principalId.nullable().optional(),
          share: share.optional(),
          public: z.boolean().optional(),
        })
        .optional(),
      metadata: metadata.optional(),
    }),
    result: z.object({ turn, attempt, stackId: id }),
    right: 'open',
    audited: true,
  }),
  'turn:push': agentCommand({
    summary: 'Applies ops, all or none.',
    args: z.object({ ...frame, seq, ops: z.array(z.unknown()) }),
    result: z.object({ seq: z.int().min(0) }),
    right: 'hold',
    paced: true,
  }),
  'turn:close': agentCommand({
    summary: 'Ends a frame; for the root frame the turn.',
    args: z.object({
      ...frame,
      seq,
      status: frameEnd,
      output: json.optional(),
      error: turnError.nullable().optional(),
      usage: json.optional(),
    }),
    result: z.union([z.object({ turn, persisted: z.boolean() }), z.object({ stackId: id, status: frameEnd })]),
    right: 'hold',
    paced: true,
  }),
  'turn:delegate': agentCommand({
    summary: 'Runs a child frame on any host that serves its assistant; answers when it has ended.',
    args: z.object({
      ...frame,
      seq,
      childStackId: agentMadeId.optional(),
      assistantId,
      input: turnInput,
      /** false: what the child sends is shown to nobody and stored nowhere; the answer carries it. */
      show: z.boolean().default(true),
    }),
    result: z.object({
      stackId: id,
      status: stepStatus,
      output: json.nullable(),
      error: turnError.nullable(),
      /** As the child gave it at its close. */
      usage: json.default(null),
      /** The turn's space when the child had ended. */
      space: jsonObject.default({}),
      /** What a child that is not shown has sent, closed. */
      messages: z.array(message).default([]),
    }),
    right: 'hold',
    paced: true,
  }),
  'turn:input': agentCommand({
    summary: 'Gives what turn:assigned carried.',
    args: z.object({ requestId: id, stackId: id.optional() }),
    result: assignment,
    right: 'hold',
  }),
  'message:list': agentCommand({ ...asForPeople(commands['message:list']), right: 'work' }),
  'chat:get': agentCommand({ ...asForPeople(commands['chat:get']), right: 'work' }),
  'auth:refresh': agentCommand({ ...asForPeople(commands['auth:refresh']), right: 'any' }),
} as const satisfies Record<string, AgentCommandSpec>;

export type AgentCommands = typeof agentCommands;
export type AgentCommandName = keyof AgentCommands;
export type AgentArgsInput<N extends AgentCommandName> = z.input<AgentCommands[N]['args']>;
export type AgentArgs<N extends AgentCommandName> = z.output<AgentCommands[N]['args']>;
export type AgentResult<N extends AgentCommandName> = z.output<AgentCommands[N]['result']>;
