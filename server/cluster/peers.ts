import { settlesWithin, type Clock, type Timer } from '../clock.js';
import type { Leases } from '../ports/leases.js';
import type { Calls } from './calls.js';

/** One that is dead, and not known to be so yet, holds up nobody for longer. */
const PATIENCE_MS = 2_000;

/**
 * How often it is looked who is there. Who is missed so many times running is gone, although nobody has told of its death: a
 * Redis that lost its data knows of no dead, and the living are there again within three seconds. Who is there and not known
 * has said so in vain, or had been given up.
 */
const LOOK_MS = 3_000;
const MISSED = 4;

/** The other living nodes. */
export class Peers {
  /** How often each was missed when it was looked who is there. */
  readonly #nodeIds = new Map<string, number>();
  #nextLook: Timer | null = null;
  readonly #onGone = new Set<(nodeId: string) => void>();
  readonly #onMet = new Set<(nodeId: string) => void>();

  private constructor(
    private readonly leases: Pick<Leases, 'nodeId' | 'nodes'>,
    private readonly calls: Calls,
    private readonly clock: Clock,
  ) {
    calls.hear('joined', (from) => void this.#nodeIds.set(from, 0));
    calls.hear('left', (from) => this.ended(from));
    calls.hear('met', (from) => this.#meet(from));
  }

  /** Finds those that are there, and makes this node known to them: from then on each is told of what comes after. */
  static async join(leases: Pick<Leases, 'nodeId' | 'nodes'>, calls: Calls, clock: Clock): Promise<Peers> {
    const peers = new Peers(leases, calls, clock);
    for (const nodeId of await leases.nodes()) if (nodeId !== leases.nodeId) peers.#nodeIds.set(nodeId, 0);
    peers.tell('joined', {});
    peers.#lookLater();
    return peers;
  }

  get nodeIds(): readonly string[] {
    return [...this.#nodeIds.keys()];
  }

  tell(kind: string, body: unknown): void {
    for (const nodeId of this.nodeIds) this.calls.tell(nodeId, kind, body);
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

  /** It and this node know of each other again: what each had said to the other before may not have been heard, or is forgotten. */
  onMet(listener: (nodeId: string) => void): void {
    this.#onMet.add(listener);
  }

  /** It has died or left: that is final. */
  ended(nodeId: string): void {
    this.calls.bury(nodeId);
    this.#gone(nodeId);
  }

  close(): void {
    this.#nextLook?.cancel();
  }

  #lookLater(): void {
    this.#nextLook = this.clock.after(LOOK_MS, () => {
      this.#lookLater();
      void this.#look().catch(() => undefined);
    });
  }

  #gone(nodeId: string): void {
    if (!this.#nodeIds.delete(nodeId)) return;
    this.calls.fail(nodeId);
    for (const listener of this.#onGone) listener(nodeId);
  }

  #meet(nodeId: string): void {
    this.#nodeIds.set(nodeId, 0);
    for (const listener of this.#onMet) listener(nodeId);
  }

  async #look(): Promise<void> {
    const living = new Set(await this.leases.nodes());
    for (const nodeId of living) {
      if (nodeId === this.leases.nodeId || this.#nodeIds.has(nodeId) || this.calls.isBuried(nodeId)) continue;
      this.calls.tell(nodeId, 'met', {});
      this.#meet(nodeId);
    }
    for (const [nodeId, missed] of [...this.#nodeIds]) {
      if (living.has(nodeId)) this.#nodeIds.set(nodeId, 0);
      else if (missed + 1 >= MISSED) this.#gone(nodeId);
      else this.#nodeIds.set(nodeId, missed + 1);
    }
  }
}
