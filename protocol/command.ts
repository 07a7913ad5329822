import * as z from 'zod';
import { errorBody, type ErrorBody } from './error.js';

/**
 * The right that a command of people needs (ACC-2). A command without one cannot be written down.
 *
 * - `any`: an identity is enough; the answer holds only what the caller may see
 * - `read`, `talk`, `change`: of the chat that the arguments name
 * - `admin`: the role, for the whole tenant
 */
export type Right = 'any' | 'read' | 'talk' | 'change' | 'admin';

/**
 * The right that a command of agents needs (ACC-3), beside the role `agent`.
 *
 * - `any`: an identity is enough
 * - `serve`: its identity may serve the assistants named
 * - `open`: it has attached the assistant named, and the chat is of its tenant
 * - `hold`: it holds the frame named
 * - `work`: it holds a turn in the chat named
 */
export type AgentRight = 'any' | 'serve' | 'open' | 'hold' | 'work';

export interface HttpBinding<R> {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** Express form; the names of parameters are those of arguments. */
  readonly path: string;
  status(result: R): number;
}

/** One row of the command table. */
export interface CommandSpec<
  A extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  W extends Right = Right,
> {
  readonly summary: string;
  readonly args: A;
  readonly result: R;
  readonly right: W;
  /** Whether the audit log says who gave it, with which outcome. */
  readonly audited: boolean;
  /** Whether it is a Socket.IO command too. */
  readonly socket: boolean;
  readonly http?: HttpBinding<z.infer<R>>;
}

export function command<A extends z.ZodType, R extends z.ZodType, W extends Right>(
  spec: Omit<CommandSpec<A, R, W>, 'audited' | 'socket' | 'http'> & {
    audited?: boolean;
    socket?: boolean;
    http?: Omit<HttpBinding<z.infer<R>>, 'status'> & { status?: (result: z.infer<R>) => number };
  },
): CommandSpec<A, R, W> {
  const { audited = false, socket = true, http, ...rest } = spec;
  return { ...rest, audited, socket, ...(http ? { http: { status: () => 200, ...http } } : {}) };
}

/** One row of the table of agents' commands. */
export interface AgentCommandSpec<A extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly args: A;
  readonly result: R;
  readonly right: AgentRight;
  readonly audited: boolean;
  /** Whether acks bound how fast it is given (AGT-6), so that it is counted in no rate. */
  readonly paced: boolean;
}

export const agentCommand = <A extends z.ZodType, R extends z.ZodType>({
  audited = false,
  paced = false,
  ...spec
}: Omit<AgentCommandSpec<A, R>, 'audited' | 'paced'> & {
  audited?: boolean;
  paced?: boolean;
}): AgentCommandSpec<A, R> => ({ ...spec, audited, paced });

/** CON-4: the acknowledgement of every command. */
export type Ack<T> = { ok: true; data: T } | { ok: false; error: ErrorBody };

export const ackOf = (data: z.ZodType) =>
  z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), data }),
    z.object({ ok: z.literal(false), error: errorBody }),
  ]);
