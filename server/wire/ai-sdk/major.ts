import type { Request } from 'express';
import { CURRENT_MAJOR, UI_MAJORS, type UiMajor } from '../../../protocol/ai-sdk/index.js';
import { ChatError } from '../../../protocol/index.js';
import { readQuery, type QueryShape } from '../http/arguments.js';

export const VERSION_HEADER = 'x-ai-sdk-version';
const VERSION_QUERY = 'ai-sdk';
const QUERY: QueryShape = new Map([[VERSION_QUERY, { argument: VERSION_QUERY, form: 'text' }]]);

/**
 * Which major of the AI SDK the client is of: the header says it, or the address. Stock clients say nothing of themselves;
 * who says nothing is of the current one.
 *
 * @throws {ChatError} `unsupported`; `bad_request` where the address says it twice
 */
export function majorOf(request: Request): UiMajor {
  const asked = request.get(VERSION_HEADER) ?? (readQuery(request, QUERY)[VERSION_QUERY] as string | undefined);
  if (asked === undefined) return CURRENT_MAJOR;
  const major = UI_MAJORS.find((one) => String(one) === asked.split('.', 1)[0]);
  if (major === undefined)
    throw new ChatError('unsupported', `${VERSION_HEADER}: expected ${UI_MAJORS.join(', ')}`, {
      details: { path: VERSION_HEADER },
    });
  return major;
}
