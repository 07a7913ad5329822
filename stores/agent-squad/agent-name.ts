import { assistantId, wellFormed, type Json } from '../../protocol/index.js';
import { chatIdOf } from '../chat-id.js';

/** The agent's id as metadata holds it: text that storage would change (DAT-1) stands escaped, so that none is another. */
export const writtenName = (agentId: string): Json =>
  wellFormed(agentId) === agentId ? agentId : { escaped: JSON.stringify(agentId) };

/** The agent's id of {@link writtenName}; null for what it never wrote. */
export function readName(written: unknown): string | null {
  if (typeof written === 'string') return written;
  const escaped = (written as { escaped?: unknown } | null | undefined)?.escaped;
  if (typeof escaped !== 'string') return null;
  try {
    const name: unknown = JSON.parse(escaped);
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}

/** The assistant that an agent is to everyone else: its id where that is one, else a hash of it. */
export const assistantOf = async (agentId: string): Promise<string> =>
  assistantId.safeParse(agentId).success ? agentId : chatIdOf('agent', agentId);
