import { type Fences, FencedOut } from '../../ports/fence.js';
import type { SqlRow } from './sql.js';

/** The row stays as it is until the transaction that looks is over: whoever takes the chat waits for that. */
const HELD = 'SELECT fence FROM agent_lease WHERE chat_id = ? FOR SHARE';

/** The check in every write of a chat. */
export class Fencing {
  constructor(private readonly fences: Fences) {}

  /** @throws {FencedOut} */
  async mustHold(chatId: string, query: (sql: string, args: string[]) => Promise<SqlRow[]>): Promise<void> {
    const held = this.fences.of(chatId);
    if (held === null) throw new FencedOut(chatId);
    const [row] = await query(HELD, [chatId]);
    if (row?.['fence'] === held) return;
    this.fences.lose(chatId, held);
    throw new FencedOut(chatId);
  }
}
