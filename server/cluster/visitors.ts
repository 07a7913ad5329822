import {
  ChatError,
  type AgentArgs,
  type AgentResult,
  type Assignment,
  type GoawayCode,
  type TurnAbort,
} from '../../protocol/index.js';
import type { AgentDirectory } from '../session/agent-directory.js';
import type { AgentConnection, AttachedAgent, OfferAnswer } from '../session/attached-agent.js';
import type { AgentDesk, AgentDeskCommand } from '../session/desk/agent-desk.js';
import type { Identity } from '../session/identity.js';
import type { Calls } from './calls.js';
import type { Ownership } from './ownership.js';
import type { Peers } from './peers.js';
import type { Safely } from './safely.js';

/** What an agent's home says to all others when it attaches. */
export interface Attaching {
  readonly connectionId: string;
  readonly identity: Identity;
  readonly offer: AgentArgs<'agent:attach'>;
}

/** An agent as its home tells of it to who asks later. */
export interface Attached extends Attaching {
  /** Frames that it holds, at any node. */
  readonly load: number;
  /** Whether it was told of those that it holds at the node that asks. */
  readonly isHeard: boolean;
}

/** A command of an agent, brought by its home to the node that it concerns. */
export interface AskedCommand {
  readonly connectionId: string;
  readonly identity: Identity;
  readonly name: AgentDeskCommand;
  readonly args: unknown;
  readonly chatId?: string;
}

/** A frame that an agent is offered by way of its home, and the frames that wait for it. */
export interface Assigning {
  readonly connectionId: string;
  readonly assignment: Assignment;
  readonly callers: readonly string[];
}

export interface VisitorsNeeds {
  /** The desk over the chats that this node owns. */
  readonly local: AgentDesk;
  readonly agents: AgentDirectory;
  readonly calls: Calls;
  readonly peers: Peers;
  readonly ownership: Ownership;
  readonly safely: Safely;
}

/** The agents of other nodes, at the desk of this one. */
export interface Visitors {
  /** These are all agents whose home is the other node; of others that it had, nothing is left. */
  meet(nodeId: string, all: readonly Attached[]): Promise<void>;
}

/** Each of them has a connection here that leads to its home; what its home brings is done as if it had come on it. */
export function createVisitors({ local, agents, calls, peers, ownership, safely }: VisitorsNeeds): Visitors {
  const visitors = new Map<string, Visitor>();

  const visitorOf = (nodeId: string, connectionId: string): Visitor | undefined =>
    visitors.get(`${nodeId} ${connectionId}`);

  function agentOf(visitor: Visitor | undefined): AttachedAgent | undefined {
    return visitor && agents.find(visitor);
  }

  function welcome(nodeId: string, { connectionId, identity }: Attaching): Visitor {
    const visitor = visitorOf(nodeId, connectionId) ?? new Visitor(nodeId, connectionId, identity, calls);
    visitor.identity = identity;
    visitors.set(`${nodeId} ${connectionId}`, visitor);
    return visitor;
  }

  function leave(nodeId: string, connectionId: string): void {
    const left = visitorOf(nodeId, connectionId);
    visitors.delete(`${nodeId} ${connectionId}`);
    if (left) local.disconnected(left);
  }

  /** Those of a node that are not in the list leave. */
  function keepOnly(nodeId: string, attached: ReadonlySet<string>): void {
    for (const { nodeId: at, connectionId } of [...visitors.values()])
      if (at === nodeId && !attached.has(connectionId)) leave(nodeId, connectionId);
  }

  /** What it held when it came is in doubt until its home has told it of that. */
  function attach(nodeId: string, attaching: Attaching, isHeard: boolean): Promise<AgentResult<'agent:attach'>> {
    const visitor = welcome(nodeId, attaching);
    const isNew = agentOf(visitor) === undefined;
    const attached = local.run('agent:attach', visitor, attaching.offer);
    // At once: what it is given from now on it is given by way of this home.
    const agent = agentOf(visitor);
    if (agent && isHeard) agents.heard(agent);
    else if (agent && isNew) agents.doubt(agent);
    return attached;
  }

  calls.serve<Attaching>('agent:attach', (from, attaching) => attach(from, attaching, false));
  calls.hear<{ connectionId: string }>('agent:heard', (from, { connectionId }) => {
    const agent = agentOf(visitorOf(from, connectionId));
    if (agent) agents.heard(agent);
  });
  calls.serve<AskedCommand>('agent', async (from, { connectionId, identity, name, args, chatId }) => {
    // One that has not attached holds nothing and is told so as at home (AGT-3); nothing of it is kept.
    const visitor = visitorOf(from, connectionId) ?? new Visitor(from, connectionId, identity, calls);
    if (chatId !== undefined && !ownership.owns(chatId)) await ownership.mustOwn(chatId);
    const about = chatId === undefined ? (args as { requestId?: string }) : { chatId };
    return safely(about, () => local.run(name, visitor, args as never));
  });
  calls.hear<{ connectionId: string; load: number }>('agent:load', (from, { connectionId, load }) => {
    const agent = agentOf(visitorOf(from, connectionId));
    if (agent) agents.told(agent, load);
  });
  calls.hear<{ connectionId: string; identity: Identity }>('agent:renewed', (from, { connectionId, identity }) => {
    const renewed = visitorOf(from, connectionId);
    if (!renewed) return;
    renewed.identity = identity;
    local.renewed(renewed);
  });
  calls.hear<{ connectionId: string }>('agent:gone', (from, { connectionId }) => leave(from, connectionId));
  agents.onHeld(({ connection }, frame, isHeld) => {
    if (connection instanceof Visitor) connection.holds(frame, isHeld);
  });
  peers.onGone((nodeId) => keepOnly(nodeId, new Set()));

  return {
    async meet(nodeId, all) {
      keepOnly(nodeId, new Set(all.map(({ connectionId }) => connectionId)));
      for (const attaching of all) {
        await attach(nodeId, attaching, attaching.isHeard);
        const agent = agentOf(visitorOf(nodeId, attaching.connectionId));
        if (agent) agents.told(agent, attaching.load);
      }
    },
  };
}

/** The connection of an agent of another node: it leads to its home. */
class Visitor implements AgentConnection {
  constructor(
    readonly nodeId: string,
    readonly connectionId: string,
    public identity: Identity,
    private readonly calls: Calls,
  ) {}

  assign(assignment: Assignment, callers: readonly string[]): Promise<OfferAnswer> {
    const { nodeId, connectionId } = this;
    return this.calls
      .ask<OfferAnswer>(nodeId, 'agent:assign', { connectionId, assignment, callers } satisfies Assigning)
      .catch((error: unknown) => (error instanceof ChatError && error.retryable ? 'lost' : 'refused'));
  }

  /** For its home, which counts. */
  holds(frame: string, isHeld: boolean): void {
    this.calls.tell(this.nodeId, 'agent:held', { connectionId: this.connectionId, frame, isHeld });
  }

  abort(abort: TurnAbort): void {
    this.calls.tell(this.nodeId, 'agent:abort', { connectionId: this.connectionId, abort });
  }

  goaway(code: GoawayCode): void {
    this.calls.tell(this.nodeId, 'agent:goaway', { connectionId: this.connectionId, code });
  }
}
