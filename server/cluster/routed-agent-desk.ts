import type { AgentArgs, AgentResult, GoawayCode, TurnAbort } from '../../protocol/index.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import type { AgentConnection, AttachedAgent } from '../session/attached-agent.js';
import type { AgentDesk, AgentDeskCommand } from '../session/desk/agent-desk.js';
import { frameName } from '../session/host.js';
import type { TurnLedger } from '../session/turn-ledger.js';
import type { Routes } from './routes.js';
import {
  createVisitors,
  type AskedCommand,
  type Assigning,
  type Attached,
  type Attaching,
  type VisitorsNeeds,
} from './visitors.js';

export interface RoutedAgentDeskNeeds extends VisitorsNeeds {
  readonly routes: Routes;
  readonly leases: Pick<Leases, 'ownerOf'>;
  readonly store: Pick<Store, 'chatOfRequest'>;
  readonly ledger: TurnLedger;
  readonly ids: IdSource;
  readonly log: Log;
}

export interface RoutedAgentDesk extends AgentDesk {
  /** What the other node has said of agents, its own and those of this one, may not have been heard. Never throws. */
  relearn(nodeId: string): void;
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
  /** The nodes whose frames it was told of when it attached: the others have not answered in time, or came later. */
  readonly heardOf: Set<string>;
}

/** What an agent holds at other nodes. */
type Elsewhere = readonly { readonly nodeId: string; readonly answer: AgentResult<'agent:attach'> }[];

/**
 * The agents' desk of a node among several. An agent is attached to one node, its home, and known to all: each of them gives it
 * frames of the chats that it owns, and takes its commands for them by way of its home, in their order.
 */
export async function createRoutedAgentDesk(needs: RoutedAgentDeskNeeds): Promise<RoutedAgentDesk> {
  const { local, agents, calls, peers, routes, ownership, leases, store, ledger, ids, log, safely } = needs;
  const homes = new Map<AgentConnection, Home>();
  const homesById = new Map<string, Home>();
  const visitors = createVisitors(needs);

  const agentAt = (connection: AgentConnection | undefined): AttachedAgent | undefined =>
    connection && agents.find(connection);

  calls.serve<Assigning>('agent:assign', async (from, { connectionId, assignment, callers }) => {
    const home = homesById.get(connectionId);
    const agent = agentAt(home?.connection);
    if (!home || !agent) return 'refused';
    const { requestId } = assignment.turn;
    if (!agents.grant(agent, from, frameName(requestId, assignment.stackId), callers)) return 'full';
    home.turns.set(requestId, Promise.resolve(from));
    return home.connection.assign(assignment, callers);
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
  calls.serve('agents', (from) =>
    Promise.resolve(
      [...homes.values()].flatMap(({ connectionId, connection, offer, heardOf }): Attached[] => {
        const { identity } = connection;
        const load = agentAt(connection)?.load ?? 0;
        return offer ? [{ connectionId, identity, offer, load, isHeard: heardOf.has(from) }] : [];
      }),
    ),
  );

  peers.onGone((nodeId) => {
    for (const { turns } of homes.values()) turns.clear();
    agents.nodeGone(nodeId);
  });

  // Who is there already: whoever attaches from now on knows of this node.
  for (const { nodeId, answer } of await peers.ask<Attached[]>('agents', {})) await visitors.meet(nodeId, answer);

  async function relearn(nodeId: string): Promise<void> {
    await visitors.meet(nodeId, await calls.ask<Attached[]>(nodeId, 'agents', {}));
    for (const home of [...homes.values()]) if (home.offer) assure(home, await announce(home, home.offer));
  }

  function homeOf(connection: AgentConnection): Home {
    const known = homes.get(connection);
    if (known) return known;
    const home: Home = { connectionId: ids.id(), connection, offer: null, turns: new Map(), heardOf: new Set() };
    homes.set(connection, home);
    homesById.set(home.connectionId, home);
    return home;
  }

  async function attach(home: Home, offer: AgentArgs<'agent:attach'>): Promise<AgentResult<'agent:attach'>> {
    const { assigned } = await local.run('agent:attach', home.connection, offer);
    const elsewhere = await announce(home, offer);
    for (const { nodeId } of elsewhere) home.heardOf.add(nodeId);
    assure(home, elsewhere);
    return { assigned: [...assigned, ...elsewhere.flatMap(({ answer }) => answer.assigned)] };
  }

  /** Those whose frames the agent was told of may count on it (AGT-4). */
  function assure({ connectionId, heardOf }: Home, elsewhere: Elsewhere): void {
    for (const { nodeId, answer } of elsewhere)
      if (heardOf.has(nodeId) && answer.assigned.length > 0) calls.tell(nodeId, 'agent:heard', { connectionId });
  }

  /** All nodes know of the agent. From then on this one decides who is given one of its places (AGT-5). Gives what it holds there. */
  async function announce(home: Home, offer: AgentArgs<'agent:attach'>): Promise<Elsewhere> {
    const { connection, connectionId, turns } = home;
    // It has gone meanwhile, and all nodes were told so.
    if (homesById.get(connectionId) !== home) return [];
    const agent = agentAt(connection);
    if (agent) agents.recount(agent);
    home.offer = offer;
    const attaching: Attaching = { connectionId, identity: connection.identity, offer };
    const elsewhere = await peers.ask<AgentResult<'agent:attach'>>('agent:attach', attaching);
    for (const { nodeId, answer } of elsewhere)
      for (const { requestId } of answer.assigned) turns.set(requestId, Promise.resolve(nodeId));
    if (agent) agents.counted(agent);
    return elsewhere;
  }

  /** The other node that owns the turn; null where this one does, or nobody. */
  async function ownerOfTurn(requestId: string): Promise<string | null> {
    const chatId = await store.chatOfRequest(requestId);
    const owner = chatId === null ? null : await leases.ownerOf(chatId);
    return owner === ownership.nodeId ? null : owner;
  }

  function ask<N extends AgentDeskCommand>(
    nodeId: string,
    { connectionId, connection: { identity } }: Home,
    name: N,
    args: AgentArgs<N>,
    chatId?: string,
  ): Promise<AgentResult<N>> {
    const asked: AskedCommand = { connectionId, identity, name, args, ...(chatId === undefined ? {} : { chatId }) };
    return calls.ask(nodeId, 'agent', asked);
  }

  /** About a frame: it is where its turn is, and what is sent first arrives first. */
  async function inTurn<N extends AgentDeskCommand>(home: Home, name: N, args: AgentArgs<N>, requestId: string) {
    const { connection, turns } = home;
    if (ledger.chatOf(requestId) !== undefined) return safely({ requestId }, () => local.run(name, connection, args));
    const owner = turns.get(requestId) ?? ownerOfTurn(requestId);
    turns.set(requestId, owner);
    // What could not be found out is asked again with the next command.
    owner.catch(() => turns.get(requestId) === owner && turns.delete(requestId));
    // Those of long ago are looked for again, should the agent still speak of them.
    if (turns.size > MAX_TURNS) turns.delete(turns.keys().next().value ?? '');
    const nodeId = await owner;
    return nodeId === null
      ? safely({ requestId }, () => local.run(name, connection, args))
      : ask(nodeId, home, name, args);
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
      here: () => safely({ chatId }, () => local.run(name, home.connection, args)),
      at: (nodeId) => ask(nodeId, home, name, args, chatId),
    });

  return {
    relearn(nodeId) {
      relearn(nodeId).catch((err: unknown) => log.warn({ err, from: nodeId }, 'agents of a node are not known'));
    },

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
