import type { Assignment, GoawayCode, TurnAbort } from '../../protocol/index.js';
import type { Timer } from '../clock.js';
import { frameName, type FrameRun, type Wish } from './host.js';
import type { Identity } from './identity.js';

/**
 * What comes of offering a frame: the agent takes it, or does not. Among several nodes (LIF-4) it may not have been asked, since
 * it has no room after all, or nobody knows what it has answered.
 */
export type OfferAnswer = 'taken' | 'refused' | 'full' | 'lost';

/** A socket on which an agent speaks. Calls never throw. */
export interface AgentConnection {
  readonly identity: Identity;
  /** Offers the frame, for which these others wait; `refused` after 5 s without a word. */
  assign(assignment: Assignment, callers: readonly string[]): Promise<OfferAnswer>;
  abort(abort: TurnAbort): void;
  /** Says why, and closes. */
  goaway(code: GoawayCode): void;
}

export interface Offer {
  readonly agentId: string;
  readonly assistants: readonly { readonly assistantId: string; readonly name?: string | undefined }[];
  readonly concurrency: number;
}

/** One of an agent's places, taken by a frame: from the moment it is granted until the frame is done. */
export class HeldFrame {
  /** Null until the frame begins, and when it is done. */
  run: FrameRun | null = null;
}

/** An agent by its name, over all its connections. */
export class AttachedAgent {
  /** Null while it is away and may come back (AGT-4). */
  connection: AgentConnection | null = null;
  offer: Offer;
  readonly held = new Set<HeldFrame>();
  graceTimer: Timer | null = null;
  /** Runs while it is not known whether the agent was told of what it holds here (LIF-4). */
  doubtTimer: Timer | null = null;
  /** Frames that it holds in chats of other nodes, by node: its home keeps count (LIF-4). */
  readonly elsewhere = new Map<string, Set<string>>();
  /** Places that are taken wherever, as its home has told; null at home. */
  told: number | null = null;
  /** Whether it stayed away for too long: it takes nothing any more. */
  isLost = false;

  constructor(
    /** Its name within its tenant and user, as turns that it opened are stored with it. */
    readonly key: string,
    readonly tenantId: string | null,
    offer: Offer,
  ) {
    this.offer = offer;
  }

  /** A frame that one of its own waits for always finds room: that one frees none before. */
  hasRoomFor(callers: readonly string[]): boolean {
    return this.load < this.offer.concurrency || callers.some((name) => this.#holds(name));
  }

  /** Places that are taken, wherever. */
  get load(): number {
    const known = [...this.elsewhere.values()].reduce((sum, { size }) => sum + size, this.held.size);
    return Math.max(known, this.told ?? 0);
  }

  #holds(name: string): boolean {
    return (
      this.runs().some((run) => nameOf(run) === name) || [...this.elsewhere.values()].some((names) => names.has(name))
    );
  }

  serves({ assistantId, tenantId, avoid }: Wish): boolean {
    return (
      this.connection !== null &&
      this.tenantId === tenantId &&
      !avoid.has(this.connection) &&
      this.offer.assistants.some((offered) => offered.assistantId === assistantId)
    );
  }

  /** What the agent runs now. */
  runs(): FrameRun[] {
    return [...this.held].flatMap(({ run }) => (run ? [run] : []));
  }
}

export const nameOf = ({ requestId, frame }: FrameRun): string => frameName(requestId, frame.stackId);
