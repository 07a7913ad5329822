import type * as z from 'zod';

/** A route in the protocol of some frontend, beside the table of commands: what it is called, and what it takes and gives. */
export interface FrontendRoute {
  /** Its name in OpenAPI. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  /** What path and query hold. */
  readonly args: z.ZodType;
  readonly body?: z.ZodType;
  /** How headers are called, and what they say. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: z.ZodType }>>;
  /** What it answers with; a text says what the server-sent events of its stream are. */
  readonly answer: z.ZodType | string;
  /** When it answers with nothing, 204. */
  readonly nothing?: string;
}
