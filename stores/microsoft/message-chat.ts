import { ChatError, id, type ChatCommands, type JsonObject, type Message } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { chatIdOf } from '../chat-id.js';
import { titleOf } from '../chat-title.js';
import { deleteMessages } from '../deletion.js';
import { openChat } from '../open-chat.js';
import { allMessages, newestMessages } from '../pages.js';
import { idOf, type ChatMessage } from './chat-message.js';
import {
  bodyOf,
  draftOf,
  hasLeft,
  isForeign,
  isKept,
  messageOf,
  ownIdOf,
  standingOf,
  withLeft,
  withMessage,
  withStanding,
  type Standing,
} from './stored-message.js';

export interface MessageChatOptions {
  /** Who acts: `createTurnstream(...).as(...)` or `createChatClient(...)`. */
  readonly chats: ChatCommands;
  /** Who speaks where the user does not. Default: `agent-framework`. */
  readonly assistantId?: string;
  /** Makes ids. Default: UUIDv4. */
  readonly newId?: () => string;
}

/** One entry of the list: a message, and the message of the chat in whose place it stands. */
export interface Listed {
  readonly message: ChatMessage;
  readonly row: Message;
  /** Whether it is that message, and not one that a reducer put there. */
  readonly isOwn: boolean;
}

/** The messages of one chat as a list of the framework's. */
export class MessageChat {
  readonly #chats: ChatCommands;
  readonly #assistantId: string;
  readonly #newId: () => string;
  #isThere = false;

  /**
   * The chat that a key stands for: the one of that id where it may be one, else one that has the key as its title, so that
   * others find it too.
   */
  static async ofKey(key: string, options: MessageChatOptions): Promise<MessageChat> {
    if (id.safeParse(key).success) return new MessageChat(key, null, options);
    return new MessageChat(await chatIdOf('microsoft', key), titleOf(key), options);
  }

  private constructor(
    readonly chatId: string,
    private readonly title: string | null,
    { chats, assistantId = 'agent-framework', newId = () => crypto.randomUUID() }: MessageChatOptions,
  ) {
    this.#chats = chats;
    this.#assistantId = assistantId;
    this.#newId = newId;
  }

  /** The closed messages of the chat, ascending; of one that is not there none. @throws {ChatError} */
  async rows(): Promise<Message[]> {
    return (await orIfAbsent(allMessages(this.#chats, { chatId: this.chatId }), [])).filter(isClosed);
  }

  /** The whole list, ascending. @throws {ChatError} */
  async list(): Promise<Listed[]> {
    return listedOf(await this.rows());
  }

  /** The end of the list: at least `count`, or all that there are. @throws {ChatError} */
  async end(count: number): Promise<Listed[]> {
    const { chatId } = this;
    for (let asked = count; ; asked *= 2) {
      const rows = await orIfAbsent(newestMessages(this.#chats, { chatId }, asked), []);
      const listed = listedOf(rows.filter(isClosed));
      if (listed.length >= count || rows.length < asked || rows.some(hasLeft)) return listed;
    }
  }

  /** Adds messages at the end, all or none. @throws {ChatError} */
  async push(messages: readonly ChatMessage[]): Promise<void> {
    await this.#save(messages.map((message) => draftOf(this.#newId(), message, this.#assistantId)));
  }

  /** Adds them once, however often, and whoever tries. @throws {ChatError} `conflict` where they were deleted since */
  async pushOnce(messages: readonly ChatMessage[]): Promise<void> {
    const ids = await Promise.all(messages.map((_message, index) => this.#rowIdOf('first', `${index}`)));
    await this.#save(messages.map((message, index) => draftOf(ids[index] ?? '', message, this.#assistantId)));
  }

  /**
   * Adds messages at the end, all or none; one whose id the list has already takes the place of that one. Those without an
   * id are always added.
   *
   * @throws {ChatError}
   */
  async upsert(messages: readonly ChatMessage[]): Promise<void> {
    if (messages.some(isForeign)) return this.#merge(messages);
    const named = new Map<string, ChatMessage>();
    for (const message of messages) named.set((await this.#rowId(message)) ?? this.#newId(), message);
    const drafts = [...named].map(([rowId, message]) => draftOf(rowId, message, this.#assistantId));
    try {
      const rows = await this.#save(drafts);
      for (const row of rows) await this.#change(row, named.get(row.messageId));
    } catch (error) {
      if (!(error instanceof ChatError) || error.code !== 'conflict' || !('messageId' in error.details)) throw error;
      await this.#merge([...named.values()]);
    }
  }

  /** As `upsert`, where the chat knows an id with other words or from others, or it was deleted there; changes come before what is added. */
  async #merge(messages: readonly ChatMessage[]): Promise<void> {
    const rows = new Map((await this.rows()).map((row) => [ownIdOf(row), row]));
    const added = new Map<string, ChatMessage>();
    for (const message of messages) {
      const name = idOf(message);
      const row = name === null ? undefined : rows.get(name);
      if (row) await this.#change(row, message);
      else added.set(name ?? this.#newId(), message);
    }
    if (added.size > 0) await this.push([...added.values()]);
  }

  /** Puts a message in the place of another one. @throws {ChatError} */
  async replace(row: Message, message: ChatMessage): Promise<void> {
    const metadata = withMessage(row, message);
    await this.#chats.call('message:update', { messageId: row.messageId, ...bodyOf(message), metadata });
  }

  /** Text that people edited since stays, where the framework's message is the same. */
  async #change(row: Message, message: ChatMessage | undefined): Promise<void> {
    if (message && !isKept(row, message)) await this.replace(row, message);
  }

  /**
   * What stands in the place of messages of the list from now on. Those in front that leave it do so last and all at once:
   * until then nothing that stands for them is missing.
   *
   * @throws {ChatError}
   */
  async stand(listed: readonly Listed[], standings: ReadonlyMap<Message, Standing>): Promise<void> {
    const leaves = (row: Message): boolean => standings.get(row)?.length === 0;
    const stays = listed.findIndex(({ row }) => !leaves(row));
    const inFront = new Set((stays === -1 ? listed : listed.slice(0, stays)).map(({ row }) => row));
    for (const [row, standing] of standings) if (!inFront.has(row)) await this.#mark(row, withStanding(row, standing));
    const last = [...inFront].at(-1);
    if (last) await this.#mark(last, withLeft(last));
  }

  async #mark({ messageId }: Message, metadata: JsonObject): Promise<void> {
    await this.#chats.call('message:update', { messageId, metadata });
  }

  /** Deletes messages of the chat. @throws {ChatError} */
  async delete(rows: readonly Message[]): Promise<void> {
    const messageIds = [...new Set(rows.map(({ messageId }) => messageId))];
    await deleteMessages(this.#chats, this.chatId, messageIds);
  }

  async #save(drafts: ReturnType<typeof draftOf>[]): Promise<Message[]> {
    const { chatId, title } = this;
    if (!this.#isThere) await openChat(this.#chats, { chatId, title, assistantId: this.#assistantId });
    this.#isThere = true;
    return (await this.#chats.call('message:save', { chatId, messages: drafts })).messages;
  }

  async #rowId(message: ChatMessage): Promise<string | null> {
    const name = idOf(message);
    return name === null ? null : this.#rowIdOf('id', name);
  }

  /** Ids of messages are unique in the world, those of the framework in their thread. */
  #rowIdOf(kind: string, name: string): Promise<string> {
    return chatIdOf('message', kind, this.chatId, name);
  }
}

const isClosed = ({ state }: Message): boolean => state === 'closed';

const listedOf = (rows: readonly Message[]): Listed[] =>
  rows
    .slice(rows.findLastIndex(hasLeft) + 1)
    .flatMap((row) =>
      standingOf(row).map((placed) => ({ row, message: placed ?? messageOf(row), isOwn: placed === null })),
    );
