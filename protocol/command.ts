import * as z from 'zod';
import { errorBody, type ErrorBody } from './error.js';

/**
 * The right that a command needs (ACC-2, ACC-3). A command without one cannot be written down.
 *
 * - `any`: an identity is enough; the answer holds only what the caller may see
 * - `read`, `talk`, `change`: of the chat that the arguments name
 */
export type Right = 'any' | 'read' | 'talk' | 'change';

export interface HttpBinding<R> {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** Express form; the names of parameters are those of arguments. */
  readonly path: string;
  status(result: R): number;
}

/** One row of the command table. */
export interface CommandSpec<A extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly args: A;
  readonly result: R;
  readonly right: Right;
  /** Whether it is a Socket.IO command too. */
  readonly socket: boolean;
  readonly http?: HttpBinding<z.infer<R>>;
}

export function command<A extends z.ZodType, R extends z.ZodType>(
  spec: Omit<CommandSpec<A, R>, 'socket' | 'http'> & {
    socket?: boolean;
    http?: Omit<HttpBinding<z.infer<R>>, 'status'> & { status?: (result: z.infer<R>) => number };
  },
): CommandSpec<A, R> {
  const { socket = true, http, ...rest } = spec;
  return { ...rest, socket, ...(http ? { http: { status: () => 200, ...http } } : {}) };
}

/** CON-4: the acknowledgement of every command. */
export type Ack<T> = { ok: true; data: T } | { ok: false; error: ErrorBody };

export const ackOf = (data: z.ZodType) =>
  z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), data }),
    z.object({ ok: z.literal(false), error: errorBody }),
  ]);
