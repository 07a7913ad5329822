import { commands, type Args, type Result } from '../../protocol/index.js';
import type { IdSource } from '../id-source.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import type { ChatDesk, DeskCommand } from '../session/desk/chat-desk.js';
import type { Identity } from '../session/identity.js';
import type { Sessions } from '../session/sessions.js';
import type { Calls } from './calls.js';
import type { Followings } from './followings.js';
import type { Ownership } from './ownership.js';
import type { Peers } from './peers.js';
import type { Routes } from './routes.js';
import type { Safely } from './safely.js';

export interface RoutedDeskNeeds {
  /** The desk over the chats that this node owns. */
  readonly local: ChatDesk;
  readonly calls: Calls;
  readonly peers: Peers;
  readonly routes: Routes;
  readonly ownership: Ownership;
  readonly followings: Followings;
  readonly sessions: Sessions;
  readonly leases: Pick<Leases, 'nodes'>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly safely: Safely;
}

export interface RoutedDesk extends ChatDesk {
  /** What is known of who types at the other node may be wrong: who still does says so again. */
  typistsGone(nodeId: string): void;
}

interface AskedCommand {
  readonly name: DeskCommand;
  readonly chatId: string;
  readonly identity: Identity;
  readonly args: unknown;
  readonly sent: unknown;
}

interface AskedTyping {
  readonly identity: Identity;
  readonly args: Args<'typing'>;
  readonly typist: string;
}

/** What names a chat, or something in one. */
type Named = { readonly [K in 'chatId' | 'requestId' | 'messageId' | 'stepId' | 'stackId']?: string | undefined };
type Inside = Pick<Named, 'messageId' | 'stackId'>;

/**
 * The desk of a node among several: a command arrives anywhere, is run by the owner of its chat, and is confirmed by it. What
 * is confirmed is safe: another node would go on from there.
 */
export function createRoutedDesk(needs: RoutedDeskNeeds): RoutedDesk {
  const { local, calls, peers, routes, ownership, followings, sessions, leases, store, ids, safely } = needs;

  // For others ----------------------------------------------------------------------------------------------------------

  /** Connections of other nodes that type here. */
  const typists = new Map<string, object>();

  calls.serve<AskedCommand>('run', async (_from, { name, chatId, identity, args, sent }) => {
    if (!ownership.owns(chatId)) await ownership.mustOwn(chatId);
    return safely({ chatId }, () => local.run(name, identity, args as never, sent));
  });
  calls.serve<AskedTyping>('typing', async (from, { identity, args, typist }) => {
    if (!ownership.owns(args.chatId)) await ownership.mustOwn(args.chatId);
    const name = `${from} ${typist}`;
    const object = typists.get(name) ?? {};
    typists.set(name, object);
    return local.typing(identity, args, object);
  });
  calls.hear<{ typist: string }>('typed', (from, { typist }) => {
    const name = `${from} ${typist}`;
    const object = typists.get(name);
    if (object) local.gone(object);
    typists.delete(name);
  });
  calls.serve<Inside>('locate', (_from, inside) => Promise.resolve(chatInMemory(inside)));

  // For connections of this node ------------------------------------------------------------------------------------------

  /** How connections of this node are called where they type, and where that is. */
  const typing = new Map<object, { readonly typist: string; readonly at: Set<string> }>();

  /** The chat whose turn holds it in memory here. */
  function chatInMemory({ messageId, stackId }: Inside): string | null {
    for (const session of sessions.all()) {
      for (const live of session.turns.values()) {
        const isHere = messageId === undefined ? live.frames.has(stackId ?? '') : live.messages.get(messageId);
        if (isHere) return session.chatId;
      }
    }
    return null;
  }

  /** What a running turn holds is nowhere but with its node. */
  async function locate(inside: Inside): Promise<string | null> {
    const here = chatInMemory(inside);
    if (here !== null) return here;
    const others = (await leases.nodes()).filter((nodeId) => nodeId !== ownership.nodeId);
    const found = await Promise.all(
      others.map((nodeId) => calls.ask<string | null>(nodeId, 'locate', inside).catch(() => null)),
    );
    return found.find((chatId) => chatId !== null) ?? null;
  }

  /** The chat that a command is about, null for one of no chat or of one that is not there. */
  async function chatNamed({ chatId, requestId, messageId, stepId, stackId }: Named): Promise<string | null> {
    if (chatId !== undefined) return chatId;
    if (requestId !== undefined) return store.chatOfRequest(requestId);
    if (stepId !== undefined) return (await store.getStep(stepId))?.step.chatId ?? null;
    if (messageId !== undefined) return (await store.getMessage(messageId))?.chatId ?? locate({ messageId });
    if (stackId === undefined) return null;
    return (await store.chatsOfStack(stackId))[0] ?? locate({ stackId });
  }

  /** Each node holds its connections against what is revoked, and is told of it. */
  async function revokedEverywhere({ connections }: { connections: number }): Promise<Result<'admin:revoke'>> {
    const elsewhere = await peers.ask<number>('revoked', {});
    return { connections: elsewhere.reduce((sum, { answer }) => sum + answer, connections) };
  }

  const isCreating = (name: DeskCommand, args: unknown): boolean =>
    name === 'chat:create' || (name === 'turn:start' && (args as Args<'turn:start'>).createChat === true);

  /** A start under its own id is the same turn however often it is asked for (TRN-1). */
  const isRepeatable = (name: DeskCommand, args: unknown): boolean =>
    commands[name].right === 'read' || (name === 'turn:start' && (args as Args<'turn:start'>).requestId !== undefined);

  return {
    typistsGone(nodeId) {
      for (const [name, object] of typists) {
        if (!name.startsWith(`${nodeId} `)) continue;
        local.gone(object);
        typists.delete(name);
      }
    },

    async run<N extends DeskCommand>(name: N, identity: Identity, given: Args<N>, sent: unknown): Promise<Result<N>> {
      const named: Named = name === 'chat:list' || name === 'admin:revoke' ? {} : (given as Named);
      const args = name === 'chat:create' && named.chatId === undefined ? { ...given, chatId: ids.id() } : given;
      const chatId = named === given ? await chatNamed(args as Named) : null;
      const here = (): Promise<Result<N>> => safely({ chatId }, () => local.run(name, identity, args, sent));
      if (name === 'admin:revoke')
        return (await revokedEverywhere((await here()) as Result<'admin:revoke'>)) as Result<N>;
      if (chatId === null) return here();
      return routes.run({
        chatId,
        creates: isCreating(name, args),
        repeatable: isRepeatable(name, args),
        here,
        at: (nodeId) => calls.ask(nodeId, 'run', { name, chatId, identity, args, sent } satisfies AskedCommand),
      });
    },

    subscribe: (identity, args, subscriber) => followings.follow(identity, args, subscriber),

    typing(identity, args, connection) {
      return routes.run({
        chatId: args.chatId,
        creates: false,
        repeatable: true,
        here: () => local.typing(identity, args, connection),
        at: async (nodeId) => {
          const known = typing.get(connection) ?? { typist: ids.id(), at: new Set<string>() };
          typing.set(connection, known);
          known.at.add(nodeId);
          await calls.ask(nodeId, 'typing', { identity, args, typist: known.typist } satisfies AskedTyping);
        },
      });
    },

    async renewed(chatIds, connection) {
      this.gone(connection);
      await local.renewed(chatIds, connection);
      await Promise.all(chatIds.map((chatId) => followings.renewed(chatId)));
    },

    gone(connection) {
      local.gone(connection);
      const known = typing.get(connection);
      typing.delete(connection);
      for (const nodeId of known?.at ?? []) calls.tell(nodeId, 'typed', { typist: known?.typist });
    },
  };
}
