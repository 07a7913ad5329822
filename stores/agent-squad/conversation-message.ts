/** What a message says: parts (`{ text }`, tool use, images), in Python's flavour also a plain text, or nothing at all. */
export type SquadContent = readonly unknown[] | string | undefined;

/** A message as agent-squad has it. What else stands in it is kept, too; `timestamp` (ms) is for showing and comes off. */
export interface SquadMessage {
  readonly role: string;
  readonly content: SquadContent;
}

/** The methods of agent-squad's `ChatStorage`, and the batch of its Python flavour. */
export interface SquadStorage {
  /**
   * Adds a message to what an agent and a user say in a session.
   *
   * @returns the conversation right behind this message, trimmed
   * @throws {TypeError} a name that is no text, a message that is none or that JSON cannot hold; nothing is stored
   * @throws {ChatError} as `message:save` and `chat:create` do
   */
  saveChatMessage(
    userId: string,
    sessionId: string,
    agentId: string,
    newMessage: SquadMessage,
    maxHistorySize?: number,
  ): Promise<SquadMessage[]>;

  /** Adds messages as they are, repeated roles included, all or none. None at all: `[]`. @throws as `saveChatMessage` */
  saveChatMessages(
    userId: string,
    sessionId: string,
    agentId: string,
    newMessages: readonly SquadMessage[],
    maxHistorySize?: number,
  ): Promise<SquadMessage[]>;

  /** The conversation of an agent in a session; `[]` where there is none. */
  fetchChat(userId: string, sessionId: string, agentId: string, maxHistorySize?: number): Promise<SquadMessage[]>;

  /** What all agents of a session said and heard, in the order of saving, each answer behind its `[agentId]`. */
  fetchAllChats(userId: string, sessionId: string): Promise<SquadMessage[]>;
}
