import type { ChatError, ChatView, InputMessage } from '../protocol/index.js';
import type { ClientCommand } from './client-command.js';

/** An input that was sent, and is not in the chat yet. */
export interface PendingInput {
  readonly requestId: string;
  /** Empty for a regeneration. */
  readonly messages: readonly InputMessage[];
  /** Why it was refused; null while the answer is awaited. A refused one stays until it is dismissed or sent again (C20). */
  readonly error: ChatError | null;
}

interface Entry {
  readonly input: PendingInput;
  readonly command: ClientCommand;
  /** The following's generation when the server accepted it; null before. */
  readonly accepted: number | null;
}

/** A chat's inputs between being sent and being seen in the chat: no bubble twice, none lost, none orphaned. */
export class PendingInputs {
  #entries: readonly Entry[] = [];
  #inputs: readonly PendingInput[] = [];

  /** The same reference until something changes. */
  get inputs(): readonly PendingInput[] {
    return this.#inputs;
  }

  /** Whether an input that creates the chat is under way: that it does not exist yet means nothing then. */
  get createsChat(): boolean {
    return this.#entries.some(({ input, command }) => input.error === null && command.args['createChat'] === true);
  }

  /** The input that was sent last and was not refused. */
  get newest(): string | null {
    return this.#entries.findLast(({ input }) => input.error === null)?.input.requestId ?? null;
  }

  add(requestId: string, command: ClientCommand): void {
    const messages = (command.args['input'] ?? []) as readonly InputMessage[];
    const entry: Entry = { input: { requestId, messages, error: null }, command, accepted: null };
    this.#set([...this.#entries.filter(({ input }) => input.requestId !== requestId), entry]);
  }

  accept(requestId: string, generation: number): void {
    this.#change(requestId, (entry) => ({ ...entry, accepted: generation }));
  }

  refuse(requestId: string, error: ChatError): void {
    this.#change(requestId, (entry) => ({ ...entry, input: { ...entry.input, error } }));
  }

  /** @returns the command of a refused input, to be sent again as the same request; null where there is none */
  retry(requestId: string): ClientCommand | null {
    const found = this.#entries.find(({ input }) => input.requestId === requestId && input.error !== null);
    if (!found) return null;
    this.#change(requestId, (entry) => ({ ...entry, input: { ...entry.input, error: null } }));
    return found.command;
  }

  remove(requestId: string): void {
    if (!this.#entries.some(({ input }) => input.requestId === requestId)) return;
    this.#set(this.#entries.filter(({ input }) => input.requestId !== requestId));
  }

  /**
   * Lets go of what can be seen in the view, also of what was given up as lost and arrived after all. What was accepted
   * and is in no later snapshot is older than the snapshot.
   */
  prune(view: ChatView, generation: number): void {
    if (this.#entries.length === 0) return;
    const seen = new Set(view.messages.filter(({ role }) => role === 'user').map(({ requestId }) => requestId));
    const left = this.#entries.filter(({ input, accepted }) => {
      const turn = view.turns.get(input.requestId);
      // A turn is announced, then its input, then its start: by then the input has been seen, if it was not deleted.
      const isThere = turn && (turn.status !== 'queued' || input.messages.length === 0);
      return !isThere && !seen.has(input.requestId) && (accepted === null || accepted === generation);
    });
    if (left.length < this.#entries.length) this.#set(left);
  }

  #change(requestId: string, change: (entry: Entry) => Entry): void {
    if (!this.#entries.some(({ input }) => input.requestId === requestId)) return;
    this.#set(this.#entries.map((entry) => (entry.input.requestId === requestId ? change(entry) : entry)));
  }

  #set(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#inputs = entries.map(({ input }) => input);
  }
}
