import { settlesWithin, type Clock } from '../clock.js';
import type { Leases } from '../ports/leases.js';
import type { Calls } from './calls.js';

/** One that is dead, and not known to be so yet, holds up nobody for longer. */
const PATIENCE_MS = 2_000;

/** The other living nodes. */
export class Peers {
  readonly #nodeIds = new Set<string>();
  readonly #onGone = new Set<(nodeId: string) => void>();

  private constructor(
    private readonly calls: Calls,
    private readonly clock: Clock,
  ) {
    calls.hear('joined', (from) => void this.#nodeIds.add(from));
    calls.hear('left', (from) => this.gone(from));
  }

  /** Finds those that are there, and makes this node known to them: from then on each is told of what comes after. */
  static async join(leases: Pick<Leases, 'nodeId' | 'nodes'>, calls: Calls, clock: Clock): Promise<Peers> {
    const peers = new Peers(calls, clock);
    for (const { nodeId } of await leases.nodes()) if (nodeId !== leases.nodeId) peers.#nodeIds.add(nodeId);
    peers.tell('joined', {});
    return peers;
  }

  get nodeIds(): readonly string[] {
    return [...this.#nodeIds];
  }

  tell(kind: string, body: unknown): void {
    for (const nodeId of this.#nodeIds) this.calls.tell(nodeId, kind, body);
  }

  /** What each of them answers; those that do not in time are left out. */
  async ask<T>(kind: string, body: unknown): Promise<{ readonly nodeId: string; readonly answer: T }[]> {
    const answers: { nodeId: string; answer: T }[] = [];
    const asked = this.nodeIds.map(async (nodeId) => {
      const asking = this.calls.ask<T>(nodeId, kind, body).then((answer) => answers.push({ nodeId, answer }));
      await settlesWithin(this.clock, asking, PATIENCE_MS).catch(() => false);
    });
    await Promise.all(asked);
    return answers;
  }

  onGone(listener: (nodeId: string) => void): void {
    this.#onGone.add(listener);
  }

  /** It has died or left. */
  gone(nodeId: string): void {
    if (!this.#nodeIds.delete(nodeId)) return;
    this.calls.fail(nodeId);
    for (const listener of this.#onGone) listener(nodeId);
  }
}
