import {
  ChatError,
  type AgentArgs,
  type AgentResult,
  type Assignment,
  type GoawayCode,
  type TurnAbort,
} from '../../protocol/index.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { Bus } from '../ports/bus.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import type { AgentDirectory } from '../session/agent-directory.js';
import type { AgentConnection, AttachedAgent, OfferAnswer } from '../session/attached-agent.js';
import type { AgentDesk, AgentDeskCommand } from '../session/desk/agent-desk.js';
import type { Identity } from '../session/identity.js';
import type { TurnLedger } from '../session/turn-ledger.js';
import type { Calls } from './calls.js';
import { notHere } from './not-here.js';
import type { Ownership } from './ownership.js';
import type { Peers } from './peers.js';
import type { Routes } from './routes.js';

export interface RoutedAgentDeskNeeds {
  /** The desk over the chats that this node owns. */
  readonly local: AgentDesk;
  readonly agents: AgentDirectory;
  readonly calls: Calls;
  readonly bus: Pick<Bus, 'onGap'>;
  readonly peers: Peers;
  readonly routes: Routes;
  readonly ownership: Ownership;
  readonly leases: Pick<Leases, 'ownerOf'>;
  readonly store: Pick<Store, 'chatOfRequest'>;
  readonly ledger: TurnLedger;
  readonly ids: IdSource;
  readonly log: Log;
  /** Waits until what the work has told is safe. */
  readonly safely: <T>(work: Promise<T>) => Promise<T>;
}

/** Turns of a connection whose nodes are remembered. */
const MAX_TURNS = 10_000;

/** A connection of this node, as others know it. */
interface Home {
  readonly connectionId: string;
  readonly connection: AgentConnection;
  /** What it serves; null before it has attached. */
  offer: AgentArgs<'agent:attach'> | null;
  /** The nodes that own the turns which it works in. */
  readonly turns: Map<string, Promise<string | null>>;
}

interface Attaching {
  readonly connectionId: string;
  readonly identity: Identity;
  readonly offer: AgentArgs<'agent:attach'>;
}

interface Attached extends Attaching {
  readonly load: number;
}

interface AskedCommand {
  readonly connectionId: string;
  readonly name: AgentDeskCommand;
  readonly args: unknown;
  readonly chatId?: string;
}

/**
 * The agents' desk of a node among several. An agent is attached to one node, its home, and known to all: each of them gives it
 * frames of the chats that it owns, and takes its commands for them by way of its home, in their order.
 */
export async function createRoutedAgentDesk(needs: RoutedAgentDeskNeeds): Promise<AgentDesk> {
  const { local, agents, calls, bus, peers, routes, ownership, leases, store, ledger, ids, log, safely } = needs;
  const homes = new Map<AgentConnection, Home>();
  const homesById = new Map<string, Home>();
  const visitors = new Map<string, Visitor>();

  // Agents of other nodes -----------------------------------------------------------------------------------------------

  const agentAt = (connection: AgentConnection | undefined): AttachedAgent | undefined =>
    connection && agents.find(connection);

  function visitor(nodeId: string, { connectionId, identity }: Attaching): Visitor {
    const name = `${nodeId} ${connectionId}`;
    const visitor = visitors.get(name) ?? new Visitor(nodeId, connectionId, identity, calls);
    visitor.identity = identity;
    visitors.set(name, visitor);
    return visitor;
  }

  function leave(nodeId: string, connectionId: string): void {
    const name = `${nodeId} ${connectionId}`;
    const left = visitors.get(name);
    visitors.delete(name);
    if (left) local.disconnected(left);
  }

  calls.serve<Attaching>('agent:attach', (from, attaching) =>
    local.run('agent:attach', visitor(from, attaching), attaching.offer),
  );
  calls.hear<{ connectionId: string; load: number }>('agent:load', (from, { connectionId, load }) => {
    const told = agentAt(visitors.get(`${from} ${connectionId}`));
    if (told) agents.told(told, load);
  });
  calls.serve<AskedCommand>('agent', async (from, { connectionId, name, args, chatId }) => {
    const connection = visitors.get(`${from} ${connectionId}`);
    if (!connection) throw new ChatError('forbidden', 'Attach first: agent:attach.');
    if (chatId !== undefined && !ownership.owns(chatId)) throw notHere();
    return safely(local.run(name, connection, args as never));
  });
  calls.hear<{ connectionId: string }>('agent:gone', (from, { connectionId }) => leave(from, connectionId));
  calls.hear<{ connectionId: string; identity: Identity }>('agent:renewed', (from, { connectionId, identity }) => {
    const renewed = visitors.get(`${from} ${connectionId}`);
    if (!renewed) return;
    renewed.identity = identity;
    local.renewed(renewed);
  });
  agents.onHeld(({ connection }, frame, isHeld) => {
    if (connection instanceof Visitor) connection.holds(frame, isHeld);
  });
  peers.onGone((nodeId) => {
    for (const { nodeId: at, connectionId } of [...visitors.values()]) if (at === nodeId) leave(nodeId, connectionId);
    for (const { turns } of homes.values()) turns.clear();
    agents.nodeGone(nodeId);
  });

  // Agents of this node -------------------------------------------------------------------------------------------------

  calls.serve<{ connectionId: string; assignment: Assignment }>('agent:assign', async (from, asked) => {
    const home = homesById.get(asked.connectionId);
    const agent = agentAt(home?.connection);
    if (!home || !agent) return 'refused';
    if (!agents.grant(agent, from, asked.assignment)) return 'full';
    home.turns.set(asked.assignment.turn.requestId, Promise.resolve(from));
    return home.connection.assign(asked.assignment);
  });
  calls.hear<{ connectionId: string; frame: string; isHeld: boolean }>('agent:held', (from, asked) => {
    const agent = agentAt(homesById.get(asked.connectionId)?.connection);
    if (agent) agents.heldElsewhere(agent, from, asked.frame, asked.isHeld);
  });
  agents.onLoad(({ connection, load }) => {
    const home = connection && homes.get(connection);
    if (home) peers.tell('agent:load', { connectionId: home.connectionId, load });
  });
  calls.hear<{ connectionId: string; abort: TurnAbort }>('agent:abort', (_from, { connectionId, abort }) =>
    homesById.get(connectionId)?.connection.abort(abort),
  );
  calls.hear<{ connectionId: string; code: GoawayCode }>('agent:goaway', (_from, { connectionId, code }) =>
    homesById.get(connectionId)?.connection.goaway(code),
  );
  calls.serve('agents', () =>
    Promise.resolve(
      [...homes.values()].flatMap(({ connectionId, connection, offer }): Attached[] => {
        const { identity } = connection;
        return offer ? [{ connectionId, identity, offer, load: agentAt(connection)?.load ?? 0 }] : [];
      }),
    ),
  );

  // Who is there already: whoever attaches from now on knows of this node.
  for (const { nodeId, answer } of await peers.ask<Attached[]>('agents', {})) await meet(nodeId, answer);

  bus.onGap((from) => {
    relearn(from).catch((error: unknown) => log.warn({ err: error, from }, 'agents of a node are not known'));
  });

  /** What the other node has said of agents, its own and those of this one, may not have been heard. */
  async function relearn(nodeId: string): Promise<void> {
    await meet(nodeId, await calls.ask<Attached[]>(nodeId, 'agents', {}));
    for (const home of [...homes.values()]) if (home.offer) await announce(home, home.offer);
  }

  /** These are the agents whose home is the other node. */
  async function meet(nodeId: string, all: readonly Attached[]): Promise<void> {
    const attached = new Set(all.map(({ connectionId }) => connectionId));
    for (const { nodeId: at, connectionId } of [...visitors.values()])
      if (at === nodeId && !attached.has(connectionId)) leave(nodeId, connectionId);
    for (const attaching of all) {
      const visiting = visitor(nodeId, attaching);
      await local.run('agent:attach', visiting, attaching.offer);
      const agent = agentAt(visiting);
      if (agent) agents.told(agent, attaching.load);
    }
  }

  function homeOf(connection: AgentConnection): Home {
    const known = homes.get(connection);
    if (known) return known;
    const home: Home = { connectionId: ids.id(), connection, offer: null, turns: new Map() };
    homes.set(connection, home);
    homesById.set(home.connectionId, home);
    return home;
  }

  async function attach(home: Home, offer: AgentArgs<'agent:attach'>): Promise<AgentResult<'agent:attach'>> {
    const { assigned } = await local.run('agent:attach', home.connection, offer);
    return { assigned: [...assigned, ...(await announce(home, offer))] };
  }

  /** All nodes know of the agent. From then on this one decides who is given one of its places (AGT-5). Gives what it holds there. */
  async function announce(
    home: Home,
    offer: AgentArgs<'agent:attach'>,
  ): Promise<AgentResult<'agent:attach'>['assigned']> {
    const { connection, connectionId, turns } = home;
    const agent = agentAt(connection);
    if (agent) agents.recount(agent);
    home.offer = offer;
    const attaching: Attaching = { connectionId, identity: connection.identity, offer };
    const elsewhere = await peers.ask<AgentResult<'agent:attach'>>('agent:attach', attaching);
    for (const { nodeId, answer } of elsewhere)
      for (const { requestId } of answer.assigned) turns.set(requestId, Promise.resolve(nodeId));
    if (agent) agents.counted(agent);
    return elsewhere.flatMap(({ answer }) => answer.assigned);
  }

  /** The other node that owns the turn; null where this one does, or nobody. */
  async function ownerOfTurn(requestId: string): Promise<string | null> {
    const chatId = await store.chatOfRequest(requestId);
    const owner = chatId === null ? null : await leases.ownerOf(chatId);
    return owner === ownership.nodeId ? null : owner;
  }

  const ask = <N extends AgentDeskCommand>(
    nodeId: string,
    { connectionId }: Home,
    name: N,
    args: AgentArgs<N>,
    chatId?: string,
  ): Promise<AgentResult<N>> =>
    calls.ask(nodeId, 'agent', { connectionId, name, args, ...(chatId === undefined ? {} : { chatId }) });

  /** About a frame: it is where its turn is, and what is sent first arrives first. */
  async function inTurn<N extends AgentDeskCommand>(home: Home, name: N, args: AgentArgs<N>, requestId: string) {
    const { connection, turns } = home;
    if (ledger.chatOf(requestId) !== undefined) return safely(local.run(name, connection, args));
    const owner = turns.get(requestId) ?? ownerOfTurn(requestId);
    turns.set(requestId, owner);
    // What could not be found out is asked again with the next command.
    owner.catch(() => turns.get(requestId) === owner && turns.delete(requestId));
    // Those of long ago are looked for again, should the agent still speak of them.
    if (turns.size > MAX_TURNS) turns.delete(turns.keys().next().value ?? '');
    const nodeId = await owner;
    return nodeId === null ? safely(local.run(name, connection, args)) : ask(nodeId, home, name, args);
  }

  /** About a chat. */
  const inChat = <N extends AgentDeskCommand>(
    home: Home,
    name: N,
    args: AgentArgs<N>,
    { chatId, creates, repeatable }: { chatId: string; creates: boolean; repeatable: boolean },
  ) =>
    routes.run({
      chatId,
      creates,
      repeatable,
      here: () => safely(local.run(name, home.connection, args)),
      at: (nodeId) => ask(nodeId, home, name, args, chatId),
    });

  return {
    run<N extends AgentDeskCommand>(name: N, connection: AgentConnection, args: AgentArgs<N>): Promise<AgentResult<N>> {
      const home = homeOf(connection);
      const named = args as { readonly requestId?: string; readonly chatId: string; readonly createChat?: object };
      switch (name) {
        case 'agent:attach':
          return attach(home, args as AgentArgs<'agent:attach'>) as Promise<AgentResult<N>>;
        case 'turn:open':
          return inChat(home, name, args, {
            chatId: named.chatId,
            creates: named.createChat !== undefined,
            repeatable: named.requestId !== undefined,
          });
        case 'message:list':
        case 'chat:get':
          return inChat(home, name, args, { chatId: named.chatId, creates: false, repeatable: true });
        default:
          return inTurn(home, name, args, String(named.requestId));
      }
    },

    renewed(connection) {
      local.renewed(connection);
      const { connectionId } = homeOf(connection);
      peers.tell('agent:renewed', { connectionId, identity: connection.identity });
    },

    disconnected(connection) {
      local.disconnected(connection);
      const home = homes.get(connection);
      homes.delete(connection);
      if (!home) return;
      homesById.delete(home.connectionId);
      peers.tell('agent:gone', { connectionId: home.connectionId });
    },
  };
}

/** An agent's connection to another node. */
class Visitor implements AgentConnection {
  constructor(
    readonly nodeId: string,
    readonly connectionId: string,
    public identity: Identity,
    private readonly calls: Calls,
  ) {}

  assign(assignment: Assignment): Promise<OfferAnswer> {
    const { nodeId, connectionId } = this;
    return this.calls
      .ask<OfferAnswer>(nodeId, 'agent:assign', { connectionId, assignment })
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
