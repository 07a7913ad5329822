import type { TurnLedger } from '../session/turn-ledger.js';
import { unanswered } from './not-here.js';
import type { Ownership } from './ownership.js';

/** What a command is about, as far as it says so: a chat, or a turn in one. */
interface About {
  readonly chatId?: string | null;
  readonly requestId?: string;
}

/**
 * Does what a command asks for, and waits until what that has told is safe: another node would go on from there.
 * @throws {ChatError} what the work throws; `storage_unavailable` where another node had the chat already, and what was told
 *   here will never be known there
 */
export type Safely = <T>(about: About, work: () => Promise<T>) => Promise<T>;

export interface SafelyNeeds {
  readonly ownership: Pick<Ownership, 'holding'>;
  readonly ledger: Pick<TurnLedger, 'chatOf'>;
  readonly whenSafe: () => Promise<void> | null;
}

export function createSafely({ ownership, ledger, whenSafe }: SafelyNeeds): Safely {
  return async ({ chatId, requestId }, work) => {
    const about = chatId ?? (requestId === undefined ? undefined : ledger.chatOf(requestId));
    const record = about === undefined ? undefined : ownership.holding(about)?.record;
    const done = await work();
    await whenSafe();
    // A node that was paused changes what it has in memory before it can know that it has lost it.
    if (record?.isOutlived) throw unanswered();
    return done;
  };
}
