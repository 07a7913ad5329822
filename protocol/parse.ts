import type * as z from 'zod';
import { ChatError, tooLarge } from './error.js';

/**
 * Marks an issue as a limit that was exceeded: {@link parse} answers `payload_too_large` for it instead of `bad_request`.
 * Given as `params` of a custom zod issue.
 */
export interface LimitParams {
  readonly limit: string;
  readonly max: number;
}

/**
 * The parsed value: every edge parses with this.
 *
 * @throws {ChatError} `bad_request` with `details.path`, or `payload_too_large` with `details.limit` and `details.max`
 */
export function parse<S extends z.ZodType>(
  schema: S,
  value: unknown,
  prefix: readonly PropertyKey[] = [],
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = deepestIssue(result.error.issues[0]);
  const path = [...prefix, ...issue.path].map(String).join('.');
  if (issue.params?.limit !== undefined) throw tooLarge(issue.params.limit, issue.params.max, { path });
  throw new ChatError('bad_request', `${path === '' ? 'The argument' : path}: ${issue.message}`, { details: { path } });
}

interface FoundIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly params?: LimitParams;
}

/** In a union, the issue of the member that got furthest says most; a limit that was met, more. */
function deepestIssue(issue: z.core.$ZodIssue | undefined): FoundIssue {
  if (!issue) return { path: [], message: 'not of the expected form' };
  if (issue.code === 'invalid_union') {
    const rank = ({ path, params }: FoundIssue): number => (params ? Infinity : path.length);
    const inner = issue.errors.map((list) => deepestIssue(list[0])).sort((a, b) => rank(b) - rank(a))[0];
    if (inner && (inner.path.length > 0 || inner.params)) return { ...inner, path: [...issue.path, ...inner.path] };
  }
  const params = issue.code === 'custom' ? (issue.params as LimitParams | undefined) : undefined;
  return { path: issue.path, message: issue.message, ...(params ? { params } : {}) };
}
