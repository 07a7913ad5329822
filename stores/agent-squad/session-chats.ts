import type { ArgsInput, ChatCommands, Message } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { chatIdOf } from '../chat-id.js';
import { titleOf } from '../chat-title.js';
import { Serial } from '../serial.js';
import { writtenName } from './agent-name.js';
import { KeptTranscripts } from './kept-transcripts.js';
import type { Draft } from './row.js';
import { EMPTY, through, type Transcript } from './transcript.js';

/** Who keeps the sessions: one caller for all users of the framework, or for each user the caller that stands for them. */
export type SquadChats = ChatCommands | ((userId: string) => ChatCommands);

export interface SessionChatsOptions {
  /** The chat that a session is held in, for one that is there already. Default: an id made of both names. */
  readonly chatId?: (userId: string, sessionId: string) => string | Promise<string>;
  /** How a session's chat is created: title, share … Default: of the assistant `agent-squad`, with the session as title. */
  readonly chat?: Partial<Omit<ArgsInput<'chat:create'>, 'chatId'>>;
  /**
   * How many messages are kept in memory, of all sessions together, so that they are not read again. Default: 200,000,
   * which take some 300 bytes each beside their text.
   */
  readonly keptMessages?: number;
}

export interface Session {
  readonly userId: string;
  readonly sessionId: string;
}

const KEPT_MESSAGES = 200_000;

/** One chat for each user and session. What is asked of a session is done in the order of asking. */
export class SessionChats {
  readonly #order = new Serial();
  readonly #kept: KeptTranscripts;

  constructor(
    private readonly chats: SquadChats,
    private readonly options: SessionChatsOptions,
  ) {
    this.#kept = new KeptTranscripts(options.keptMessages ?? KEPT_MESSAGES);
  }

  /**
   * Adds messages, all or none; the first ones create the chat.
   *
   * @returns what the chat holds up to the last of them
   * @throws {ChatError} `conflict` where the chat was deleted or is somebody else's
   */
  async save(session: Session, drafts: () => Promise<Draft[]>): Promise<Transcript> {
    const chats = this.#chatsOf(session);
    const { chatId, last } = await this.#order.run(keyOf(session), async () => {
      const args = { chatId: await this.#chatIdOf(session), messages: await drafts() };
      const saved =
        (await orIfAbsent(chats.call('message:save', args), null)) ?? (await this.#begin(chats, session, args));
      return { chatId: args.chatId, last: saved.messages.at(-1)?.sequence ?? 0 };
    });
    return through(await this.#read(session, chatId), last);
  }

  /** What the session holds of all that was saved before this was asked; nothing where there is no chat. */
  async transcript(session: Session): Promise<Transcript> {
    const chatId = await this.#order.run(keyOf(session), () => this.#chatIdOf(session));
    return orIfAbsent(this.#read(session, chatId), EMPTY);
  }

  #read(session: Session, chatId: string): Promise<Transcript> {
    return this.#kept.read(JSON.stringify([keyOf(session), chatId]), this.#chatsOf(session), chatId);
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

const keyOf = ({ userId, sessionId }: Session): string => JSON.stringify([userId, sessionId]);
