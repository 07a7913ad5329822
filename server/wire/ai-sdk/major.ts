import type { Request } from 'express';
import { CURRENT_MAJOR, UI_MAJORS, type UiMajor } from '../../../protocol/ai-sdk/index.js';
import { ChatError } from '../../../protocol/index.js';

export const VERSION_HEADER = 'x-ai-sdk-version';
const VERSION_QUERY = 'ai-sdk';

/**
 * Which major of the AI SDK the client is of: the header says it, or the address. Stock clients say nothing of themselves;
 * who says nothing is of the current one.
 *
 * @throws {ChatError} `unsupported`
 */
export function majorOf(request: Request): UiMajor {
  const asked =
    request.get(VERSION_HEADER) ?? new URL(request.originalUrl, 'http://here').searchParams.get(VERSION_QUERY);
  if (asked === null) return CURRENT_MAJOR;
  const major = UI_MAJORS.find((one) => String(one) === asked.split('.', 1)[0]);
  if (major === undefined)
    throw new ChatError('unsupported', `${VERSION_HEADER}: expected ${UI_MAJORS.join(', ')}`, {
      details: { path: VERSION_HEADER },
    });
  return major;
}
