import { ChatError, type Assignment, type GoawayCode, type TurnAbort } from '../../protocol/index.js';
import type { Clock, Timer } from '../clock.js';
import { mayServe } from './access.js';
import type { Holder } from './frame.js';
import type { FrameRun, ListedAssistant, Place, Wish } from './host.js';
import type { Identity } from './identity.js';

/** A socket on which an agent speaks. Calls never throw. */
export interface AgentConnection {
  readonly identity: Identity;
  /** Resolves with whether the agent took the frame; false after 5 s without a word. */
  assign(assignment: Assignment): Promise<boolean>;
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
  /** Places that it has taken for chats of other nodes, by node (LIF-4). */
  readonly elsewhere = new Map<string, number>();
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

  /** A call within a turn that it runs already always finds room: its caller waits for it and frees none. */
  hasRoomFor({ requestId, isCall }: Wish): boolean {
    const hasRoom = this.load < this.offer.concurrency;
    return hasRoom || (isCall && this.runs().some((run) => run.requestId === requestId));
  }

  /** Places that are taken, wherever. */
  get load(): number {
    return [...this.elsewhere.values()].reduce((sum, held) => sum + held, this.held.size);
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

/** The agents attached to this process, and what each of them holds. */
export class AgentDirectory {
  readonly #agents = new Map<string, AttachedAgent>();
  readonly #byConnection = new Map<AgentConnection, AttachedAgent>();
  readonly #listeners = new Set<() => void>();
  #onHeld: (key: string, held: number) => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly agentGraceMs: number,
  ) {}

  /** Calls back whenever a frame that waits may find a host, or has lost the last one. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls back whenever an agent has another number of places taken here. */
  onHeld(listener: (key: string, held: number) => void): void {
    this.#onHeld = listener;
  }

  /** So many of the agent's places are taken by chats of another node. */
  heldElsewhere(nodeId: string, key: string, held: number): void {
    const agent = this.#agents.get(key);
    if (!agent) return;
    agent.elsewhere.set(nodeId, held);
    this.#changed();
  }

  /** The node is gone, and its chats with it. */
  nodeGone(nodeId: string): void {
    for (const agent of this.#agents.values()) agent.elsewhere.delete(nodeId);
    this.#changed();
  }

  /**
   * Attaches a connection as the agent of that name within its tenant and user: what the agent holds moves to it, and an
   * older connection of the same name is closed.
   *
   * @throws {ChatError} `conflict` for a second name on one connection
   */
  attach(connection: AgentConnection, offer: Offer): AttachedAgent {
    const { tenantId, userId } = connection.identity;
    const key = JSON.stringify([tenantId, userId, offer.agentId]);
    const agent = this.#agents.get(key) ?? new AttachedAgent(key, tenantId, offer);
    const before = this.#byConnection.get(connection);
    if (before && before !== agent)
      throw new ChatError('conflict', `This connection is attached as ${before.offer.agentId}.`);
    this.#agents.set(key, agent);
    const older = agent.connection;
    agent.connection = connection;
    agent.offer = offer;
    agent.graceTimer?.cancel();
    agent.graceTimer = null;
    this.#byConnection.set(connection, agent);
    if (older && older !== connection) {
      this.#byConnection.delete(older);
      older.goaway('replaced');
    }
    this.#changed();
    return agent;
  }

  /** The connection's identity has changed: what it may not serve any more it does not offer any more. */
  renewed(connection: AgentConnection): void {
    const agent = this.#byConnection.get(connection);
    if (!agent) return;
    const assistants = agent.offer.assistants.filter(({ assistantId }) => mayServe(connection.identity, assistantId));
    agent.offer = { ...agent.offer, assistants };
    this.#changed();
  }

  /** The connection is gone; its agent may come back within the grace. */
  disconnected(connection: AgentConnection): void {
    const agent = this.#byConnection.get(connection);
    if (!agent) return;
    this.#byConnection.delete(connection);
    agent.connection = null;
    agent.graceTimer = this.clock.after(this.agentGraceMs, () => this.#lose(agent));
    this.#changed();
  }

  /** @throws {ChatError} `forbidden` before `agent:attach` */
  of(connection: AgentConnection): AttachedAgent {
    const agent = this.#byConnection.get(connection);
    if (!agent) throw new ChatError('forbidden', 'Attach first: agent:attach.');
    return agent;
  }

  find(connection: AgentConnection): AttachedAgent | undefined {
    return this.#byConnection.get(connection);
  }

  serves(wish: Wish): boolean {
    return [...this.#agents.values()].some((agent) => agent.serves(wish));
  }

  /** A place with the agent that has the least to do. */
  place(wish: Wish): Place | undefined {
    const free = [...this.#agents.values()].filter((agent) => agent.serves(wish) && agent.hasRoomFor(wish));
    const agent = free.sort((a, b) => a.load / a.offer.concurrency - b.load / b.offer.concurrency)[0];
    return agent && this.#placeWith(agent);
  }

  /** The holder of a frame that this agent opened itself; `begin` says which. */
  open(agent: AttachedAgent): { readonly holder: Holder; readonly begin: (run: FrameRun) => void } {
    const held = this.#take(agent);
    return {
      holder: this.#holder(agent, held),
      begin: (run) => {
        this.#begin(agent, held, run);
        if (agent.isLost) run.lose();
      },
    };
  }

  assistants(tenantId: string | null): ListedAssistant[] {
    const listed = new Map<string, ListedAssistant>();
    for (const agent of this.#agents.values()) {
      if (agent.tenantId !== tenantId) continue;
      for (const { assistantId, name } of agent.offer.assistants) {
        const available = agent.connection !== null || (listed.get(assistantId)?.available ?? false);
        listed.set(assistantId, { assistantId, name: name ?? assistantId, available });
      }
    }
    return [...listed.values()];
  }

  #placeWith(agent: AttachedAgent): Place {
    const held = this.#take(agent);
    return {
      holder: this.#holder(agent, held),
      giveBack: () => this.#giveBack(agent, held),
      begin: (run) => {
        // It may have gone since it was granted the frame.
        if (agent.isLost) return run.refuse(null);
        this.#begin(agent, held, run);
        void this.#offer(agent, held, run);
      },
    };
  }

  #take(agent: AttachedAgent): HeldFrame {
    const held = new HeldFrame();
    agent.held.add(held);
    this.#onHeld(agent.key, agent.held.size);
    return held;
  }

  #holder(agent: AttachedAgent, held: HeldFrame): Holder {
    return {
      key: agent,
      abort: (reason) => {
        if (!held.run) return;
        const { requestId, attempt, frame } = held.run;
        agent.connection?.abort({ requestId, attempt, stackId: frame.stackId, reason });
      },
    };
  }

  #begin(agent: AttachedAgent, held: HeldFrame, run: FrameRun): void {
    held.run = run;
    void run.frame.done.promise.then(() => {
      this.#giveBack(agent, held);
      // The frame is kept for a while after its end, and its holder with it; the turn's buffer must not be (LIF-3).
      held.run = null;
    });
  }

  #giveBack(agent: AttachedAgent, held: HeldFrame): void {
    if (!agent.held.delete(held)) return;
    this.#onHeld(agent.key, agent.held.size);
    this.#changed();
  }

  async #offer(agent: AttachedAgent, held: HeldFrame, run: FrameRun): Promise<void> {
    const connection = agent.connection;
    const taken = connection !== null && (await connection.assign(run.assignment));
    if (taken || !agent.held.has(held)) return;
    // It has pushed without a word, or came back and heard of the frame by attaching: it took it.
    if (run.frame.lastSeq > 0 || (agent.connection !== null && agent.connection !== connection)) return;
    this.#giveBack(agent, held);
    run.refuse(connection);
  }

  #lose(agent: AttachedAgent): void {
    agent.isLost = true;
    this.#agents.delete(agent.key);
    for (const run of agent.runs()) run.lose();
    agent.held.clear();
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
