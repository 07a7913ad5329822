import { ChatError, type ErrorCode } from '../../protocol/index.js';

/** The one error of this room. `code` is the protocol's, the message the seed's in spirit; `cause` is the server's refusal. */
export class YaoStoreError extends Error {
  override readonly name = 'YaoStoreError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}

export const invalid = (message: string): YaoStoreError => new YaoStoreError('bad_request', message);

/** @throws {YaoStoreError} `bad_request`: as in Go, an empty text is none */
export function mustBeGiven(value: unknown, field: string): asserts value is string {
  if (value === undefined || value === null || value === '') throw invalid(`${field} is required`);
  if (typeof value !== 'string') throw invalid(`${field} must be text`);
}

/**
 * The result of a command. What was refused is said as the seed says it, in the sentence for its code where one is given.
 *
 * @throws {YaoStoreError} for every refusal
 */
export async function told<T>(
  work: Promise<T>,
  sentences: Readonly<Partial<Record<ErrorCode, string>>> = {},
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    throw new YaoStoreError(error.code, takenBy(error) ?? sentences[error.code] ?? error.message, { cause: error });
  }
}

/** Of several that were saved at once the refusal names the one whose id is another's. */
function takenBy({ code, details }: ChatError): string | undefined {
  if (code !== 'conflict') return undefined;
  for (const [kind, id] of [
    ['message', details['messageId']],
    ['step', details['stepId']],
  ] as const)
    if (typeof id === 'string') return `${kind} ${id} already exists`;
  return undefined;
}
