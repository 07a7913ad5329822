import { ChatError, commands, type Args, type Chat, type Commands, type Result } from '../../../protocol/index.js';
import { mayRead, mayTalk, mustBeFreeTo, mustHaveRight, type ChatRight } from '../access.js';
import type { ChatDesk, DeskCommand } from './chat-desk.js';
import type { ChatSession } from '../chat-session.js';
import { deleteChat, updateChat } from '../edit-chat.js';
import { deleteMessages, updateMessage } from '../edit-messages.js';
import type { Environment } from '../environment.js';
import type { Identity } from '../identity.js';
import { readPage } from '../read-messages.js';
import { resumeTurn } from '../resume-turn.js';
import type { Revocations } from '../revocations.js';
import { saveMessages } from '../save-messages.js';
import { saveSteps, updateStep } from '../save-steps.js';
import type { Sessions } from '../sessions.js';
import { stopTurn } from '../stop-turn.js';
import { subscribe } from '../subscribe.js';
import { createChat } from './create-chat.js';
import { listChats } from './list-chats.js';
import { chatsOfStack, incompleteStep, stackPath, stepsOfStack, stepsOfTurn } from './steps.js';
import { listTurns, start } from './turns.js';

interface Asked<N extends DeskCommand> {
  readonly identity: Identity;
  readonly args: Args<N>;
  readonly sent: unknown;
}

/** The chat that a command is about, and the right that was found on it. */
interface Allowed {
  readonly chat: Chat;
  readonly right: ChatRight;
}

/** A start may create its chat: the right is checked where that is decided. */
type OfChat<N extends DeskCommand> = N extends 'turn:start' ? never : Extract<Commands[N]['right'], ChatRight>;

/** What a handler is given: a chat only where the table names a right of one. */
type Call<N extends DeskCommand> = [OfChat<N>] extends [never] ? Asked<N> : Asked<N> & Allowed;

type Handlers = { readonly [N in DeskCommand]: (call: Call<N>) => Promise<Result<N>> };

/** Which chat a command is about: the arguments name it, or something in it. */
type Named = { readonly [K in 'chatId' | 'requestId' | 'messageId' | 'stepId' | 'stackId']?: string | undefined };

/** The desk of one process over its sessions. */
export function createDesk(env: Environment, sessions: Sessions, revocations: Revocations): ChatDesk {
  const { store } = env;
  /** Connections that have typed somewhere. */
  const typists = new WeakSet<object>();

  async function sessionOf(chatId: string): Promise<ChatSession> {
    const session = await sessions.open(chatId);
    if (!session) throw new ChatError('not_found');
    return session;
  }

  /** As a command of the chat, its right checked again at its turn: it may have waited for one that changed it. */
  async function command<T>(
    call: Allowed & { readonly identity: Identity },
    work: (session: ChatSession) => Promise<T>,
  ): Promise<T> {
    const session = await sessionOf(call.chat.chatId);
    return session.commands.run(async () => {
      session.mustExist();
      mustHaveRight(session.chat, call.identity, call.right);
      return work(session);
    });
  }

  async function chatNamed({ chatId, stackId, ...inside }: Named, identity: Identity): Promise<Chat | null> {
    if (chatId !== undefined) return sessions.chat(chatId);
    if (stackId !== undefined) return chatOfStack(stackId, identity);
    const found = await holding(inside);
    return found === undefined ? null : sessions.chat(found);
  }

  /** The id of the chat that holds it, in memory or stored. */
  async function holding({ requestId, messageId, stepId }: Named): Promise<string | undefined> {
    if (stepId !== undefined) return (await store.getStep(stepId))?.step.chatId;
    if (requestId !== undefined)
      return env.ledger.chatOf(requestId) ?? (await store.chatOfRequest(requestId)) ?? undefined;
    if (messageId === undefined) return undefined;
    for (const session of sessions.all()) {
      for (const live of session.turns.values())
        if (live.isBuffered && live.messages.get(messageId)) return session.chatId;
    }
    return (await store.getMessage(messageId))?.chatId;
  }

  /** Of several chats that have such a stack, the one that the caller may talk in. */
  async function chatOfStack(stackId: string, identity: Identity): Promise<Chat | null> {
    const named = await Promise.all((await chatsOfStack(sessions, store, stackId)).map((id) => sessions.chat(id)));
    const chats = named.filter((chat) => chat !== null);
    return chats.find((chat) => mayTalk(chat, identity)) ?? chats.find((chat) => mayRead(chat, identity)) ?? null;
  }

  async function turnNow(requestId: string): Promise<Result<'turn:get'>> {
    const live = sessions.ofTurn(requestId)?.turns.get(requestId);
    if (live) return { turn: live.turn };
    const record = await store.getTurn(requestId);
    if (!record) throw new ChatError('not_found');
    return { turn: record.turn };
  }

  const handlers: Handlers = {
    'chat:create': ({ identity, args }) => createChat(env, sessions, identity, args),
    'chat:list': ({ identity, args }) => listChats(store, identity, args),
    'chat:get': async ({ chat }) => ({ chat }),
    'chat:update': (call) =>
      command(call, async (session) => ({
        chat: await updateChat(session, call.args, call.identity.userId),
      })),
    'chat:delete': (call) =>
      command(call, async (session) => {
        await deleteChat(session);
        sessions.drop(session);
        return { chatId: session.chatId };
      }),
    'message:list': async ({ args, chat }) => readPage(await sessionOf(chat.chatId), args),
    'message:save': (call) =>
      command(call, async (session) => ({ messages: await saveMessages(session, call.args.messages) })),
    'message:update': (call) =>
      command(call, async (session) => ({ message: await updateMessage(session, call.args) })),
    'message:delete': (call) =>
      command(call, async (session) => ({ messageIds: await deleteMessages(session, call.args) })),
    'turn:start': ({ identity, args, sent }) => start(env, sessions, identity, args, sent),
    'turn:stop': async ({ args, chat }) => ({ turn: await stopTurn(await sessionOf(chat.chatId), args) }),
    'turn:resume': (call) => command(call, (session) => resumeTurn(session, call.args)),
    'turn:get': ({ args }) => turnNow(args.requestId),
    'turn:list': async ({ args, chat }) => listTurns(await sessionOf(chat.chatId), args),
    'step:list': async ({ args }) => ({ steps: await stepsOfTurn(sessions, store, args.requestId) }),
    'step:save': (call) => command(call, async (session) => ({ steps: await saveSteps(session, call.args.steps) })),
    'step:update': (call) => command(call, async (session) => ({ step: await updateStep(session, call.args) })),
    'step:stack': async ({ args, chat }) => ({
      steps: await stepsOfStack(sessions, store, args.stackId, chat.chatId),
    }),
    'step:path': async ({ args, chat }) => ({ path: await stackPath(sessions, store, args.stackId, chat.chatId) }),
    'step:incomplete': async ({ args }) => ({ step: await incompleteStep(sessions, store, args.chatId) }),
    'admin:revoke': async ({ identity, args }) => ({ connections: await revocations.revoke(identity, args) }),
  };

  /** The caller's right is known when it resolves: to nothing where it is not one of a chat. @throws {ChatError} */
  async function allowed(name: DeskCommand, identity: Identity, args: Named): Promise<Allowed | null> {
    if (name === 'turn:start') return null;
    const { right } = commands[name];
    if (right === 'any' || right === 'admin') {
      mustBeFreeTo(identity, right);
      return null;
    }
    const chat = await chatNamed(args, identity);
    mustHaveRight(chat, identity, right);
    return { chat, right };
  }

  return {
    async run<N extends DeskCommand>(name: N, identity: Identity, args: Args<N>, sent: unknown) {
      const asked: Asked<N> = { identity, args, sent };
      // `allowed` and `Call` decide by the same table, which the compiler cannot see for a name that it does not know.
      return handlers[name]({ ...asked, ...(await allowed(name, identity, args as Named)) } as Call<N>);
    },

    async subscribe(identity, args, subscriber) {
      mustHaveRight(await sessions.chat(args.chatId), identity, commands['chat:subscribe'].right);
      const session = await sessionOf(args.chatId);
      const result = await subscribe(session, args, subscriber);
      // The right may have gone while the snapshot was read.
      if (!mayRead(session.chat, subscriber.identity)) {
        session.detach(subscriber);
        throw new ChatError('not_found');
      }
      return { result, unsubscribe: () => session.detach(subscriber) };
    },

    async typing(identity, { chatId, typing }, typist) {
      const right = commands.typing.right;
      mustHaveRight(await sessions.chat(chatId), identity, right);
      const { presence, chat } = await sessionOf(chatId);
      mustHaveRight(chat, identity, right);
      if (!typing) return presence.stopTyping(typist);
      presence.type(typist, identity);
      typists.add(typist);
    },

    async renewed(chatIds, typist) {
      this.gone(typist);
      for (const chatId of chatIds) sessions.get(chatId)?.review();
    },

    gone(typist) {
      if (!typists.delete(typist)) return;
      for (const session of sessions.all()) session.presence.stopTyping(typist);
    },
  };
}
