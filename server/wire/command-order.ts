/**
 * TRN-5: the commands of one connection on one chat are taken in order. Commands on different chats do not wait for each
 * other; one that names no chat (it names a turn or a message of any) keeps its place among all.
 */
export class CommandOrder {
  readonly #tails = new Map<string, Promise<unknown>>();
  #barrier: Promise<unknown> = Promise.resolve();

  /** Runs `work` when its time has come. It must not reject. */
  run(chatId: string | null, work: () => Promise<void>): void {
    const ofChat = chatId === null ? [...this.#tails.values()] : [this.#tails.get(chatId) ?? Promise.resolve()];
    const before = [this.#barrier, ...ofChat];
    const done = Promise.all(before).then(work);
    if (chatId === null) {
      this.#barrier = done;
      this.#tails.clear();
      return;
    }
    this.#tails.set(chatId, done);
    void done.then(() => {
      if (this.#tails.get(chatId) === done) this.#tails.delete(chatId);
    });
  }
}
