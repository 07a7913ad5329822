import type { Clock, Timer } from '../clock.js';
import type { AgentDirectory } from './agent-directory.js';
import type { ListedAssistant, Wish } from './host.js';
import type { InProcessHost } from './in-process-host.js';

interface WaitingWish {
  readonly wish: Wish;
  /** Wishes of one kind fare alike; null for one of its own kind: a call finds room where its callers are held. */
  readonly kind: string | null;
  timer: Timer | null;
}

/**
 * Finds a host for each frame: the process itself, else one attached agent with room (AGT-5). Frames wait in the order
 * in which they came: without an end while agents are merely full, up to `agentWaitMs` while nobody serves the assistant.
 */
export class Hosts {
  readonly #waiting = new Set<WaitingWish>();

  constructor(
    private readonly needs: {
      readonly inProcess: InProcessHost;
      readonly agents: AgentDirectory;
      readonly clock: Clock;
      readonly agentWaitMs: number;
    },
  ) {
    needs.agents.onChange(() => this.#serve());
  }

  /** Calls `granted` or `unavailable`, once, possibly before it returns. @returns withdraws the wish */
  request(wish: Wish): () => void {
    const { tenantId, assistantId, callers, avoid } = wish;
    const kind = callers.length > 0 || avoid.size > 0 ? null : JSON.stringify([tenantId, assistantId]);
    const waiting: WaitingWish = { wish, kind, timer: null };
    this.#waiting.add(waiting);
    this.#try(waiting);
    return () => this.#drop(waiting);
  }

  /** What people of a tenant are told of (CON-2). */
  list(tenantId: string | null): ListedAssistant[] {
    const { inProcess, agents } = this.needs;
    const listed = new Map<string, ListedAssistant>();
    for (const assistant of agents.assistants(tenantId)) listed.set(assistant.assistantId, assistant);
    for (const { assistantId, name } of inProcess.assistants)
      listed.set(assistantId, { assistantId, name, available: true });
    return [...listed.values()];
  }

  /** Many thousands may wait for one assistant: after the first of them that finds no room, the others are not tried. */
  #serve(): void {
    const fared = new Map<string, boolean>();
    for (const waiting of [...this.#waiting]) {
      if (!this.#waiting.has(waiting)) continue;
      const isServed = waiting.kind === null ? undefined : fared.get(waiting.kind);
      if (isServed !== undefined) this.#waits(waiting, isServed);
      else if (!this.#try(waiting) && waiting.kind !== null)
        fared.set(waiting.kind, this.needs.agents.serves(waiting.wish));
    }
  }

  /** @returns whether it was granted a place */
  #try(waiting: WaitingWish): boolean {
    const { wish } = waiting;
    const { inProcess, agents } = this.needs;
    const place = inProcess.place(wish.assistantId) ?? agents.place(wish);
    if (place) {
      this.#drop(waiting);
      wish.granted(place);
      return true;
    }
    this.#waits(waiting, agents.serves(wish));
    return false;
  }

  #waits(waiting: WaitingWish, isServed: boolean): void {
    if (isServed) this.#cancelTimer(waiting);
    else this.#armTimer(waiting);
  }

  #armTimer(waiting: WaitingWish): void {
    waiting.timer ??= this.needs.clock.after(this.needs.agentWaitMs, () => {
      this.#drop(waiting);
      waiting.wish.unavailable();
    });
  }

  #cancelTimer(waiting: WaitingWish): void {
    waiting.timer?.cancel();
    waiting.timer = null;
  }

  #drop(waiting: WaitingWish): void {
    this.#cancelTimer(waiting);
    this.#waiting.delete(waiting);
  }
}
