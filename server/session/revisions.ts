/** Chats that are told apart by what was done to them. Some megabytes; of those beyond it readers read once more. */
const MAX_CHATS = 10_000;

/**
 * The revisions of a process's chats (CMD-5). One outlives its chat's session, which goes when nobody needs it for a few
 * seconds; no process gives one that another has given.
 */
export class Revisions {
  /** By chat, the longest untouched first. A chat that is not in it was last touched at `#before` at the latest. */
  readonly #touched = new Map<string, number>();
  #before = 0;
  #touches = 0;

  /** @param life a name that no other process has */
  constructor(
    private readonly life: string,
    private readonly maxChats = MAX_CHATS,
  ) {}

  of(chatId: string): string {
    return `${this.life}:${this.#touched.get(chatId) ?? this.#before}`;
  }

  /** What stood in the chat does not stand any more as it did. */
  raise(chatId: string): void {
    this.#touched.delete(chatId);
    this.#touched.set(chatId, ++this.#touches);
    if (this.#touched.size <= this.maxChats) return;
    for (const [longestUntouched, touch] of this.#touched) {
      this.#touched.delete(longestUntouched);
      this.#before = touch;
      return;
    }
  }
}
