import { ChatError } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';

// What holds for messages and steps alike that a program saves here without a turn.

/** @throws {ChatError} of an id that stands twice in the list what `taken` says of it */
export function mustBeApart(ids: readonly string[], taken: (id: string) => ChatError): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw taken(id);
    seen.add(id);
  }
}

/** @throws {ChatError} `idempotency_conflict` for a request of another chat, `conflict` for a turn that is not over */
export async function mustBeTurnsOfThis(session: ChatSession, requestIds: ReadonlySet<string>): Promise<void> {
  const { ledger, store } = session.env;
  for (const requestId of requestIds) {
    if (session.turns.has(requestId))
      throw new ChatError('conflict', 'This turn is not over.', { details: { requestId } });
    const chatId = ledger.chatOf(requestId) ?? (await store.chatOfRequest(requestId)) ?? session.chatId;
    if (chatId !== session.chatId) throw new ChatError('idempotency_conflict');
  }
}
