import { ChatError } from '../../protocol/index.js';
import type { Clock } from '../clock.js';
import { mayServe } from './access.js';
import { AttachedAgent, HeldFrame, nameOf, type AgentConnection, type Offer } from './attached-agent.js';
import type { Holder } from './frame.js';
import type { FrameRun, ListedAssistant, HostSlot, Wish } from './host.js';

/** How long a home may take, beyond the grace, to say that its agent was told of what it holds: it asks all nodes first. */
const WORD_MS = 5_000;

/** The agents attached to this process, and what each of them holds. */
export class AgentDirectory {
  readonly #agents = new Map<string, AttachedAgent>();
  readonly #byConnection = new Map<AgentConnection, AttachedAgent>();
  readonly #listeners = new Set<() => void>();
  #onLoad: (agent: AttachedAgent) => void = () => undefined;
  #onHeld: (agent: AttachedAgent, frame: string, isHeld: boolean) => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly agentGraceMs: number,
  ) {}

  /** Calls back whenever a frame that waits may find a host, or has lost the last one. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls back whenever an agent has another number of places taken, as far as this node knows. */
  onLoad(listener: (agent: AttachedAgent) => void): void {
    this.#onLoad = listener;
  }

  /** Calls back whenever an agent holds a frame here that its home may not know of, and when it holds one no more. */
  onHeld(listener: (agent: AttachedAgent, frame: string, isHeld: boolean) => void): void {
    this.#onHeld = listener;
  }

  /** At the agent's home: takes one of its places for a frame of another node. @returns whether there is one */
  grant(agent: AttachedAgent, nodeId: string, frame: string, callers: readonly string[]): boolean {
    if (!agent.hasRoomFor(callers)) {
      // Whoever asked believed that there was room: it is told so, and of each change after that.
      this.#onLoad(agent);
      return false;
    }
    this.heldElsewhere(agent, nodeId, frame, true);
    return true;
  }

  /** At the agent's home: another node says what the agent holds there. */
  heldElsewhere(agent: AttachedAgent, nodeId: string, frame: string, isHeld: boolean): void {
    const held = agent.elsewhere.get(nodeId) ?? new Set();
    agent.elsewhere.set(nodeId, held);
    if (isHeld) held.add(frame);
    else held.delete(frame);
    this.#loaded(agent);
  }

  /** This node is the agent's home from now on, and other nodes say what it holds there: until then its load is no less. */
  recount(agent: AttachedAgent): void {
    agent.told = agent.load;
    agent.elsewhere.clear();
  }

  /** All other nodes have said so. */
  counted(agent: AttachedAgent): void {
    agent.told = null;
    this.#loaded(agent);
  }

  /** The agent's home, another node, has told how many places are taken. */
  told(agent: AttachedAgent, load: number): void {
    agent.told = load;
    agent.elsewhere.clear();
    this.#changed();
  }

  /** The node is gone, and its chats with it. */
  nodeGone(nodeId: string): void {
    for (const agent of this.#agents.values()) if (agent.elsewhere.delete(nodeId)) this.#loaded(agent);
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
    if (older !== connection) this.heard(agent);
    this.#byConnection.set(connection, agent);
    for (const run of agent.runs()) this.#onHeld(agent, nameOf(run), true);
    if (older && older !== connection) {
      this.#byConnection.delete(older);
      older.goaway('replaced');
    }
    this.#changed();
    return agent;
  }

  /**
   * The agent has come back by way of another node, its home, which tells it what it holds here; but not if this node's answer
   * was late. Whatever an agent is not told of it lets go of, and nobody else would end it: without a word of the home
   * (`heard`) it is lost (AGT-4).
   */
  doubt(agent: AttachedAgent): void {
    const runs = agent.runs();
    if (runs.length === 0) return;
    agent.doubtTimer = this.clock.after(this.agentGraceMs + WORD_MS, () => {
      for (const run of runs) run.lose();
    });
  }

  /** The agent knows of all that it holds here. */
  heard(agent: AttachedAgent): void {
    agent.doubtTimer?.cancel();
    agent.doubtTimer = null;
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

  /** A place with the agent that has the least to do; one of this node before those of others, whose words come by the bus. */
  place(wish: Wish): HostSlot | undefined {
    const free = [...this.#agents.values()].filter((agent) => agent.serves(wish) && agent.hasRoomFor(wish.callers));
    const near = free.filter(({ told }) => told === null);
    const candidates = near.length > 0 ? near : free;
    const agent = candidates.sort((a, b) => a.load / a.offer.concurrency - b.load / b.offer.concurrency)[0];
    return agent && this.#slotWith(agent);
  }

  /** The holder of a frame that this agent opened itself; `begin` says which. */
  open(agent: AttachedAgent): { readonly holder: Holder; readonly begin: (run: FrameRun) => void } {
    const held = this.#take(agent);
    return {
      holder: this.#holder(agent, held),
      begin: (run) => {
        this.#begin(agent, held, run);
        this.#onHeld(agent, nameOf(run), true);
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

  #slotWith(agent: AttachedAgent): HostSlot {
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
    this.#onLoad(agent);
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
    if (held.run) this.#onHeld(agent, nameOf(held.run), false);
    this.#loaded(agent);
  }

  async #offer(agent: AttachedAgent, held: HeldFrame, run: FrameRun): Promise<void> {
    const connection = agent.connection;
    const answer = connection === null ? 'refused' : await connection.assign(run.assignment, run.callers);
    if (answer === 'taken' || !agent.held.has(held)) return;
    // It has pushed without a word, or came back and heard of the frame by attaching: it took it.
    if (run.frame.lastSeq > 0 || (agent.connection !== null && agent.connection !== connection)) return;
    if (answer === 'full') return this.#takeBack(agent, held, run);
    this.#giveBack(agent, held);
    run.refuse(answer === 'lost' ? null : connection);
  }

  /** The agent has never heard of the frame, which waits until its home tells of room, or another agent has some. */
  #takeBack(agent: AttachedAgent, held: HeldFrame, run: FrameRun): void {
    held.run = null;
    this.#giveBack(agent, held);
    run.refuse(null);
  }

  #lose(agent: AttachedAgent): void {
    agent.isLost = true;
    this.heard(agent);
    this.#agents.delete(agent.key);
    for (const run of agent.runs()) run.lose();
    agent.held.clear();
    this.#changed();
  }

  #loaded(agent: AttachedAgent): void {
    this.#onLoad(agent);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
