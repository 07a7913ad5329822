import { splitHalf, wellFormed, type ArgsInput, type ChatCommands, type Message } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { chatIdOf } from '../chat-id.js';
import { allMessages } from '../pages.js';
import { Serial } from '../serial.js';
import { writtenName } from './agent-name.js';
import type { Draft } from './row.js';

/** Who keeps the sessions: one caller for all users of the framework, or for each user the caller that stands for them. */
export type SquadChats = ChatCommands | ((userId: string) => ChatCommands);

export interface SessionChatsOptions {
  /** The chat that a session is held in, for one that is there already. Default: an id made of both names. */
  readonly chatId?: (userId: string, sessionId: string) => string | Promise<string>;
  /** How a session's chat is created: title, share … Default: of the assistant `agent-squad`, with the session as title. */
  readonly chat?: Partial<Omit<ArgsInput<'chat:create'>, 'chatId'>>;
}

export interface Session {
  readonly userId: string;
  readonly sessionId: string;
}

const TITLE_LENGTH = 500;

/** One chat for each user and session. What is asked of a session is done in the order of asking. */
export class SessionChats {
  readonly #order = new Serial();

  constructor(
    private readonly chats: SquadChats,
    private readonly options: SessionChatsOptions,
  ) {}

  /**
   * Adds messages, all or none; the first ones create the chat.
   *
   * @returns every message of the chat up to the last of them
   * @throws {ChatError} `conflict` where the chat was deleted or is somebody else's
   */
  async save(session: Session, drafts: () => Promise<Draft[]>): Promise<Message[]> {
    const chats = this.#chatsOf(session);
    const { chatId, through } = await this.#order.run(keyOf(session), async () => {
      const args = { chatId: await this.#chatIdOf(session), messages: await drafts() };
      const saved =
        (await orIfAbsent(chats.call('message:save', args), null)) ?? (await this.#begin(chats, session, args));
      return { chatId: args.chatId, through: saved.messages.at(-1)?.sequence ?? 0 };
    });
    const messages = await allMessages(chats, { chatId });
    return messages.filter(({ sequence }) => sequence <= through);
  }

  /** Every message of the session that was saved before this was asked; none where there is no chat. */
  async messages(session: Session): Promise<Message[]> {
    const chatId = await this.#order.run(keyOf(session), () => this.#chatIdOf(session));
    return orIfAbsent(allMessages(this.#chatsOf(session), { chatId }), []);
  }

  async #begin(
    chats: ChatCommands,
    session: Session,
    args: ArgsInput<'message:save'>,
  ): Promise<{ readonly messages: readonly Message[] }> {
    const { userId, sessionId } = session;
    await chats.call('chat:create', {
      assistantId: 'agent-squad',
      title: titleOf(sessionId),
      metadata: { squad: { userId: writtenName(userId), sessionId: writtenName(sessionId) } },
      ...this.options.chat,
      chatId: args.chatId,
    });
    return chats.call('message:save', args);
  }

  #chatsOf({ userId }: Session): ChatCommands {
    return typeof this.chats === 'function' ? this.chats(userId) : this.chats;
  }

  async #chatIdOf({ userId, sessionId }: Session): Promise<string> {
    return (await this.options.chatId?.(userId, sessionId)) ?? chatIdOf('agent-squad', userId, sessionId);
  }
}

/** Cut between characters, not within one. */
const titleOf = (sessionId: string): string => splitHalf(wellFormed(sessionId).slice(0, TITLE_LENGTH)).head;

const keyOf = ({ userId, sessionId }: Session): string => JSON.stringify([userId, sessionId]);
