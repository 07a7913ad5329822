/** Which chat in memory holds a turn, live or just ended: a turn's commands name the turn alone. */
export class TurnLedger {
  readonly #chatIds = new Map<string, string>();

  /** The id of the chat that holds the turn in memory. */
  chatOf(requestId: string): string | undefined {
    return this.#chatIds.get(requestId);
  }

  add(requestId: string, chatId: string): void {
    this.#chatIds.set(requestId, chatId);
  }

  remove(requestId: string): void {
    this.#chatIds.delete(requestId);
  }
}
