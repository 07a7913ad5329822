import { pause, type Clock, type Timer } from '../clock.js';
import type { Bus } from '../ports/bus.js';
import type { Leases } from '../ports/leases.js';
import type { AgentDirectory } from '../session/agent-directory.js';
import type { AgentDesk } from '../session/desk/agent-desk.js';
import type { ChatDesk } from '../session/desk/chat-desk.js';
import type { ChatSession } from '../session/chat-session.js';
import type { Environment } from '../session/environment.js';
import { lateEdits, leftAttempt } from '../session/recover-attempt.js';
import type { Revocations } from '../session/revocations.js';
import type { Sessions } from '../session/sessions.js';
import { Calls } from './calls.js';
import { Followings } from './followings.js';
import { Guests } from './guests.js';
import type { Ownership } from './ownership.js';
import { Peers } from './peers.js';
import type { Recording } from './recording.js';
import { createRoutedAgentDesk } from './routed-agent-desk.js';
import { createRoutedDesk } from './routed-desk.js';
import { Routes } from './routes.js';
import { createSafely } from './safely.js';

export interface ClusterNeeds {
  readonly env: Environment;
  readonly sessions: Sessions;
  readonly agents: AgentDirectory;
  readonly revocations: Revocations;
  /** The desks over the chats that this node owns. */
  readonly desk: ChatDesk;
  readonly agentDesk: AgentDesk;
  readonly leases: Leases;
  readonly bus: Bus;
  readonly ownership: Ownership;
  readonly recording: Recording;
  /** Called once when the other nodes have given this one up for dead: it has to end, and may start anew. */
  readonly onLost: () => void;
}

/** This node among the others. */
export interface Cluster {
  /** The desks for connections of this node, whoever owns the chats. */
  readonly desk: ChatDesk;
  readonly agentDesk: AgentDesk;
  /** Whether others could go on from here, and this one from there. */
  readonly isHealthy: boolean;
  /** Turns that nobody runs are taken up: those that wait in the store, and those that an earlier life of this node left. */
  takeUpAll(): Promise<void>;
  /** From now on no chat is taken, and each is given to the others as soon as nothing runs in it. */
  beginLeaving(): void;
  /** Gives up everything, and leaves: nobody is told anything from here any more. What turns are left with it others take up. */
  leave(): Promise<void>;
}

/** Chats of a dead node that are taken up at a time. */
const AT_ONCE = 16;
const RETRY_MS = 500;
/** How often one that leaves looks which of its chats are at rest. */
const GIVE_AWAY_MS = 50;
/** How often it is looked what is not this node's any more, or not needed. */
const LOOK_MS = 2_000;

/** Joins the other nodes (LIF-4): from then on it is known to all of them, and all of them to it. */
export async function joinCluster(needs: ClusterNeeds): Promise<Cluster> {
  const { env, sessions, agents, leases, bus, ownership, recording } = needs;
  const { clock, ids, log, store, pump } = env;
  const whenSafe = (): Promise<void> | null => {
    pump.flush();
    return pump.waiting;
  };
  const safely = createSafely({ ownership, ledger: env.ledger, whenSafe });
  const calls = new Calls(bus, log);
  const routes = new Routes({ ownership, leases, store, clock });
  const { nodeId } = leases;
  const followings = new Followings({ nodeId, calls, routes, local: needs.desk, whenSafe, clock, ids });
  const guests = new Guests(calls, needs.desk, ownership, whenSafe);
  calls.serve('revoked', () => needs.revocations.reload());
  // What was revoked while nobody could say so.
  const learn = (): void => {
    needs.revocations.reload().catch((error: unknown) => log.warn({ err: error }, 'revocations could not be read'));
  };

  const peers = await Peers.join(leases, calls, clock);
  ownership.use({
    store,
    isNeeded: (chatId) => sessions.isNeeded(chatId),
    async taken(chatId) {
      // What stood in it may have been changed elsewhere since it was here (CMD-5).
      env.revisions.raise(chatId);
      const isLeft = ownership.holding(chatId)?.left.some(({ attempt }) => attempt !== null);
      if (isLeft || (await store.queuedTurns(chatId)).length > 0) await sessions.open(chatId);
    },
    takenFrom(other, chatId) {
      if (peers.nodeIds.includes(other)) calls.tell(other, 'taken', { chatId });
    },
    lost(chatId) {
      sessions.abandon(chatId);
      void takeBack(chatId);
    },
  });
  const compare = (chatIds?: string[]): void => void ownership.compare(store, chatIds).catch(() => undefined);
  calls.hear<{ chatId: string }>('taken', (_from, { chatId }) => {
    // A Redis that has lost a lease cannot say so. Where the chat was given up this finds nothing.
    if (ownership.holding(chatId)) compare([chatId]);
  });
  const takeOver = (chatIds: readonly string[]): Promise<void> => takeAll(chatIds, { ownership, clock, log });
  /** Whoever has raised its fence does not have it: nobody but this node would end what ran in it. */
  const takeBack = async (chatId: string): Promise<void> => {
    if (await ownership.isLeased(chatId)) await takeOver([chatId]);
  };
  calls.hear<{ chatIds: string[] }>('take', (_from, { chatIds }) => void takeOver(chatIds));

  const desk = createRoutedDesk({
    ...{ local: needs.desk, calls, peers, routes, ownership, followings, sessions, leases, store, ids, safely },
  });
  const agentDesk = await createRoutedAgentDesk({
    ...{ local: needs.agentDesk, agents, calls, peers, routes, ownership, leases, store, ids, log, safely },
    ledger: env.ledger,
  });

  /** Chats of dead nodes that are being taken over: a death is told again for as long as that cannot be done. */
  const left = new Set<string>();
  async function takeOverLeft(chatIds: readonly string[]): Promise<void> {
    const more = chatIds.filter((chatId) => !left.has(chatId));
    for (const chatId of more) left.add(chatId);
    await takeOver(more);
    for (const chatId of more) left.delete(chatId);
  }

  peers.onGone((gone) => {
    guests.gone(gone);
    followings.lost(gone);
    desk.typistsGone(gone);
  });
  /** What either has said to the other may not have been heard. */
  const anew = (nodeId: string): void => {
    guests.gone(nodeId, 'moved');
    followings.lost(nodeId);
    desk.typistsGone(nodeId);
    learn();
    compare();
    agentDesk.relearn(nodeId);
  };
  bus.onGap(anew);
  peers.onMet(anew);
  leases.onDeath((dead, chatIds) => {
    log.warn({ node: dead, chats: chatIds.length }, 'a node has died');
    peers.ended(dead);
    void takeOverLeft(chatIds);
  });
  leases.onTaken((chatIds) => {
    for (const chatId of chatIds) ownership.lose(chatId);
  });
  const giveUp = (): void => {
    ownership.takeNoMore();
    for (const chatId of [...ownership.chats()]) ownership.lose(chatId);
    needs.onLost();
  };
  leases.onStanding((standing) => {
    log.warn({ standing }, 'the standing of this node among the others has changed');
    if (standing === 'lost') giveUp();
  });
  // While it joined.
  if (leases.standing === 'lost') giveUp();
  const watch = watchHeld({ ...needs, clock });

  /** Others take them: at once where something in them waits to be run, else when somebody asks for them. */
  async function moveAway(chats: readonly ChatSession[]): Promise<void> {
    const waiting = chats.filter(({ turns }) => turns.size > 0).map(({ chatId }) => chatId);
    await Promise.all(chats.map((session) => sessions.moveAway(session)));
    if (waiting.length > 0) peers.tell('take', { chatIds: waiting });
  }

  let hasLeft = false;
  /** Chats go as soon as nothing runs in them. */
  async function giveAway(): Promise<void> {
    while (!hasLeft) {
      await moveAway([...sessions.all()].filter(({ isAtRest }) => isAtRest));
      await pause(clock, GIVE_AWAY_MS);
    }
  }

  return {
    desk,
    agentDesk,
    get isHealthy() {
      return recording.isUp && bus.isUp && leases.standing === 'held';
    },
    async takeUpAll() {
      for (const attempt of await env.journal.recover()) {
        // One that is ended was taken over meanwhile; or its node died between its end and what was edited until then.
        if ((await leftAttempt(env, attempt)) ?? (await lateEdits(env, attempt))) ownership.alsoLeft(attempt);
        else env.journal.forget(attempt.attempt);
      }
      const waiting = (await store.queuedTurns()).map(({ turn }) => turn.chatId);
      await takeOver([...new Set([...ownership.chatsLeft(), ...waiting])]);
    },
    beginLeaving() {
      ownership.takeNoMore();
      void giveAway();
    },
    async leave() {
      ownership.takeNoMore();
      watch.stop();
      peers.close();
      hasLeft = true;
      await moveAway([...sessions.all()]);
      await leases
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'this node could not say that it leaves'));
      peers.tell('left', {});
    },
  };
}

/** Owns what nobody else owns of these, however long it takes to be told. */
async function takeAll(
  chatIds: readonly string[],
  { ownership, clock, log }: Pick<Environment, 'clock' | 'log'> & { readonly ownership: Ownership },
): Promise<void> {
  const waiting = [...chatIds];
  const take = async (): Promise<void> => {
    for (let chatId = waiting.pop(); chatId !== undefined; chatId = waiting.pop()) {
      while (ownership.mayTake) {
        try {
          await ownership.ownerOf(chatId);
          break;
        } catch (error) {
          log.warn({ chatId, err: error }, 'a chat could not be taken up yet');
          await pause(clock, RETRY_MS);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}

/** Gives up what nobody needs. While the leases are in doubt, a chat that another has taken is known by its fence. */
function watchHeld({
  env,
  leases,
  ownership,
  clock,
}: Pick<ClusterNeeds, 'env' | 'leases' | 'ownership'> & { readonly clock: Clock }): { stop(): void } {
  let timer: Timer;
  const look = (): void => {
    timer = clock.after(LOOK_MS, look);
    ownership.sweep();
    if (leases.standing !== 'held') void ownership.compare(env.store).catch(() => undefined);
  };
  timer = clock.after(LOOK_MS, look);
  return { stop: () => timer.cancel() };
}
