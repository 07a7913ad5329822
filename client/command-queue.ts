import type { ChatError } from '../protocol/index.js';
import type { ClientCommand } from './client-command.js';
import type { Clock, Timer } from './clock.js';
import { closedError, type Connection } from './connection.js';
import { assertFrame, connectionLost, offlineQueueFull } from './local-error.js';
import type { Outcome } from './pending-requests.js';

export interface CommandQueueOptions {
  readonly clock: Clock;
  /** Commands held back while there is no connection. */
  readonly maxQueuedCommands: number;
}

/** The answer, or the reason why there is none. */
type Answer = { readonly data: unknown } | { readonly error: ChatError };

interface Entry {
  readonly command: ClientCommand;
  readonly timeoutMs: number;
  /** Called exactly once. */
  readonly answered: (answer: Answer) => void;
  /** `held`: refused by a server that is going away, or for an expired token; sent again once that is over. */
  state: 'queued' | 'sent' | 'held';
  /** How often it was put on a link. */
  sends: number;
  /** Ends the holding with the refusal, where the server announces its end and stays. */
  deadline: Timer | null;
  /** How often it was held: what is refused for the same reason over and over is the caller's to see. */
  holds: number;
}

/** A command that took so many connections with it is given up: it may be what breaks them (C10). */
const MAX_SENDS = 5;
const MAX_HOLDS = 3;

/**
 * Commands from the caller to the server, each done once: sent in order while there is a connection, held back while
 * there is none, sent again after a loss where that is harmless (C06), settled in every case (C52).
 */
export class CommandQueue {
  /** All that are not settled, in the order in which they were given. */
  readonly #entries = new Set<Entry>();

  constructor(
    private readonly connection: Pick<Connection, 'state' | 'isOpen' | 'limits' | 'request' | 'refresh'>,
    private readonly options: CommandQueueOptions,
  ) {}

  /**
   * Resolves with the answer.
   *
   * @param timeoutMs how long to wait for the answer of what was sent
   * @throws {ChatError} `payload_too_large`, `queue_full` or the client's end: nothing was queued; the server's refusal; no answer
   */
  submit(command: ClientCommand, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#mustTake(command);
      const answered = (answer: Answer): void => {
        if ('error' in answer) reject(answer.error);
        else resolve(answer.data);
      };
      this.#entries.add({ command, timeoutMs, answered, state: 'queued', sends: 0, deadline: null, holds: 0 });
      this.flush();
    });
  }

  #mustTake({ bytes }: ClientCommand): void {
    const { connection } = this;
    const state = connection.state.getSnapshot();
    if (state.status === 'closed') throw closedError(state);
    assertFrame(bytes, connection.limits.maxFrameBytes);
    const { maxQueuedCommands } = this.options;
    if (!connection.isOpen && this.#entries.size >= maxQueuedCommands) throw offlineQueueFull(maxQueuedCommands);
  }

  /** The connection went, or the token was renewed: what was held for it is sent with the rest, in the old order. */
  release(): void {
    for (const entry of this.#entries) {
      if (entry.state !== 'held') continue;
      entry.state = 'queued';
      entry.deadline?.cancel();
    }
    this.flush();
  }

  /** Sends what waits, in order. */
  flush(): void {
    if (!this.connection.isOpen) return;
    for (const entry of [...this.#entries]) if (entry.state === 'queued') this.#send(entry);
  }

  /** Settles everything: the client was closed. */
  fail(error: ChatError): void {
    for (const entry of [...this.#entries]) this.#settle(entry, { error });
  }

  #send(entry: Entry): void {
    const { command, timeoutMs } = entry;
    try {
      // Again, because this server's limit may be another one than that of the server before.
      assertFrame(command.bytes, this.connection.limits.maxFrameBytes);
    } catch (error) {
      return this.#settle(entry, { error: error as ChatError });
    }
    entry.state = 'sent';
    entry.sends++;
    this.connection.request(command.name, command.args, timeoutMs, (outcome) => this.#came(entry, outcome));
  }

  #came(entry: Entry, outcome: Outcome): void {
    const { command, sends } = entry;
    switch (outcome.type) {
      case 'data':
        return this.#settle(entry, { data: outcome.data });
      case 'no_answer':
        return this.#settle(entry, { error: outcome.error });
      case 'lost':
        if (!command.repeatable) return this.#settle(entry, { error: outcome.error });
        if (sends >= MAX_SENDS) return this.#settle(entry, { error: connectionLost(`sent ${sends} times`) });
        entry.state = 'queued';
        return;
      case 'refused': {
        const repeated = sends > 1 ? command.answerOfRepeated(outcome.error.code) : undefined;
        if (repeated !== undefined) return this.#settle(entry, { data: repeated });
        if (this.#isHeld(entry, outcome.error)) return this.#hold(entry, outcome.error);
        return this.#settle(entry, { error: outcome.error });
      }
    }
  }

  /**
   * A server that is about to go, or a token that has just expired, says nothing about the command: it is sent again
   * after the move. What was refused behind a held command of the same chat was refused for want of it, perhaps: it
   * keeps its place (commands on one chat keep their order).
   */
  #isHeld(entry: Entry, error: ChatError): boolean {
    if (entry.holds >= MAX_HOLDS || !entry.command.repeatable) return false;
    if (error.code === 'draining') return true;
    if (error.code === 'token_expired') return this.connection.refresh();
    for (const earlier of this.#entries) {
      if (earlier === entry) return false;
      if (
        earlier.state === 'held' &&
        earlier.command.chatId !== null &&
        earlier.command.chatId === entry.command.chatId
      ) {
        return true;
      }
    }
    return false;
  }

  #hold(entry: Entry, error: ChatError): void {
    entry.state = 'held';
    entry.holds++;
    entry.deadline = this.options.clock.after(entry.timeoutMs, () => this.#settle(entry, { error }));
  }

  #settle(entry: Entry, answer: Answer): void {
    if (!this.#entries.delete(entry)) return;
    entry.deadline?.cancel();
    entry.answered(answer);
  }
}
