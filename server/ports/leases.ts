/**
 * LIF-4: which living node owns which chat. It is quick, and it is not the truth: what keeps a node that has lost a chat from
 * writing is the fence in the store (`fence.ts`).
 *
 * Promises of every implementation (`test/contract/leases.ts`):
 *
 * - However many nodes acquire a chat at once, all are told the same owner, and only a node that was declared dead, or has
 *   released the chat, is succeeded by another.
 * - A node that dies is declared dead within 12 s, and each living one is told. It never lives again under its name.
 * - No call hangs: it fails once the service has been silent for 2 s. @throws {ChatError} `storage_unavailable`, each of them: the service is away or
 *   has yet to find out who owns what, or this node was declared dead. A call that failed may have been carried out.
 * - **A service that lost its data**, or has an older state of it, is told again by each node what it owns, and a chat without
 *   an owner is given to nobody until all have had the time to do so (6 s). What others have got all the same is told to
 *   {@link onTaken}. Who was dead is forgotten with the rest: that nobody had a chat does not prove that nothing in it
 *   waits to be ended.
 *
 * Calls for one chat are made one after another. No listener throws.
 */
export interface Leases {
  /** The name of this node, for this one life: a process that starts anew is another node. */
  readonly nodeId: string;
  readonly standing: Standing;
  /**
   * Makes this node the owner, unless another living one is. Gives the owner as it is now. A chat of a dead node has to be
   * looked through: its turns have to be ended.
   * @param wasMine an earlier life of this node was the owner, as far as the store knows: it need not wait for others who might
   *   tell a service without its data that they are
   */
  acquire(chatId: string, wasMine?: boolean): Promise<string>;
  /** The living owner; null where there is none. */
  ownerOf(chatId: string): Promise<string | null>;
  /** Gives the chat up where it is this node's; nothing is left in it to be ended. */
  release(chatId: string): Promise<void>;
  /**
   * Undoes an {@link acquire}, because what was left in the chat could not be ended. Where a dead node had it, it is that one's
   * again, and told of ({@link onDeath}); else nobody's.
   */
  giveBack(chatId: string): Promise<void>;
  /** The living nodes, this one among them. One that has just died is among them until it is declared dead. */
  nodes(): Promise<readonly string[]>;
  /**
   * A node died and left these chats. Every living node is told, again and again as long as somebody has to acquire some of
   * them; whoever is first takes over.
   */
  onDeath(listener: (nodeId: string, chatIds: readonly string[]) => void): void;
  /** Chats that this node owned are another's, because the service had lost its data. */
  onTaken(listener: (chatIds: readonly string[]) => void): void;
  onStanding(listener: (standing: Standing) => void): void;
  /** Releases all and leaves; others are not told of a death. */
  close(): Promise<void>;
}

/**
 * - `held`: nobody can have taken what this node owns.
 * - `unsure`: the service has not answered for so long that others may have declared this node dead. It may come back.
 * - `lost`: they have. Nothing is this node's any more, and that is final: all that is left to do is to close, and to join
 *   again as another node.
 */
export type Standing = 'held' | 'unsure' | 'lost';
