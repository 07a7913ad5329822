import { assistantOf } from './agent-name.js';
import { copied } from './content.js';
import type { SquadMessage, SquadStorage } from './conversation-message.js';
import { draftOf, type Saving } from './row.js';
import { SessionChats, type SessionChatsOptions, type SquadChats } from './session-chats.js';
import { isConsecutive, trimmed } from './trimming.js';
import { conversationOf, sessionOf, type Agent } from './view.js';

export interface SquadStorageOptions extends SessionChatsOptions {
  /** Names this object among all that save to the same sessions. Default: a random UUID. */
  readonly lane?: string;
}

/** An agent's conversation with a user in a session. */
interface Place {
  readonly userId: string;
  readonly sessionId: string;
  readonly agentId: string;
}

/**
 * agent-squad's `ChatStorage` over chats: one chat for each user and session, which people follow live, with every message
 * that was ever saved; what the framework reads is a view of it (see `Exchanges`). Order is that of saving, and what this
 * object was asked to save before is in what it is asked for.
 *
 * Sessions of other names are other chats, whatever characters the names hold.
 */
export class SquadChatStorage implements SquadStorage {
  readonly #sessions: SessionChats;
  readonly #lane: string;
  /** Saves on their way, by conversation. */
  readonly #saving = new Map<string, number>();
  /** Answers that could not be saved, by conversation: questions before them wait for nothing. */
  readonly #failures = new Map<string, number>();

  constructor(chats: SquadChats, { lane = crypto.randomUUID(), ...options }: SquadStorageOptions = {}) {
    this.#sessions = new SessionChats(chats, options);
    this.#lane = lane;
  }

  async saveChatMessage(
    userId: string,
    sessionId: string,
    agentId: string,
    newMessage: SquadMessage,
    maxHistorySize?: number,
  ): Promise<SquadMessage[]> {
    return this.#save({ userId, sessionId, agentId }, [newMessage], false, maxHistorySize);
  }

  async saveChatMessages(
    userId: string,
    sessionId: string,
    agentId: string,
    newMessages: readonly SquadMessage[],
    maxHistorySize?: number,
  ): Promise<SquadMessage[]> {
    if (newMessages.length === 0) return [];
    return this.#save({ userId, sessionId, agentId }, newMessages, true, maxHistorySize);
  }

  async fetchChat(
    userId: string,
    sessionId: string,
    agentId: string,
    maxHistorySize?: number,
  ): Promise<SquadMessage[]> {
    mustBeNames({ userId, sessionId, agentId });
    const transcript = await this.#sessions.transcript({ userId, sessionId });
    return copied(trimmed(conversationOf(transcript, await agentOf(agentId)), maxHistorySize));
  }

  async fetchAllChats(userId: string, sessionId: string): Promise<SquadMessage[]> {
    mustBeNames({ userId, sessionId });
    return copied(sessionOf(await this.#sessions.transcript({ userId, sessionId })));
  }

  /** Whether the new message has the role of the last one. */
  isConsecutiveMessage(conversation: readonly SquadMessage[], newMessage: SquadMessage): boolean {
    return isConsecutive(conversation, newMessage);
  }

  /** The newest of a conversation, an even number of them; 0, 1 and no size leave everything. */
  trimConversation<T>(conversation: T[], maxHistorySize?: number): T[] {
    return trimmed(conversation, maxHistorySize);
  }

  async #save(
    place: Place,
    newMessages: readonly SquadMessage[],
    isBatched: boolean,
    max: number | undefined,
  ): Promise<SquadMessage[]> {
    mustBeNames(place);
    const key = JSON.stringify([place.userId, place.sessionId, place.agentId]);
    const others = this.#saving.get(key) ?? 0;
    const failures = this.#failures.get(key) ?? 0;
    const lane = failures === 0 ? this.#lane : `${this.#lane}.${failures}`;
    // Before the first wait: what becomes of the caller's objects afterwards is not what was saved.
    const saving: Saving = { agentId: place.agentId, lane, isParallel: others > 0, isBatched };
    const drafts = newMessages.map((message, index) =>
      draftOf(message, index === newMessages.length - 1 ? { ...saving, ...sizeOf(max) } : saving),
    );
    this.#saving.set(key, others + 1);
    try {
      const agent = agentOf(place.agentId);
      // Where the session fails first nobody waits for it.
      agent.catch(() => undefined);
      // Asked for at once: what is asked of the session from here on comes behind it.
      const transcript = await this.#sessions.save(place, async () => {
        const { assistantId } = await agent;
        return drafts.map((draft) => (draft.role === 'user' ? draft : { ...draft, assistantId }));
      });
      return copied(conversationOf(transcript, await agent));
    } catch (error) {
      if (drafts.some(({ role }) => role !== 'user')) this.#failures.set(key, failures + 1);
      throw error;
    } finally {
      this.#saved(key);
    }
  }

  #saved(key: string): void {
    const others = (this.#saving.get(key) ?? 1) - 1;
    if (others > 0) this.#saving.set(key, others);
    else this.#saving.delete(key);
  }
}

const agentOf = async (agentId: string): Promise<Agent> => ({ agentId, assistantId: await assistantOf(agentId) });

/** What is no finite number trims nothing. */
const sizeOf = (max: number | undefined): { max?: number } =>
  max !== undefined && Number.isFinite(max) ? { max } : {};

/** @throws {TypeError} */
function mustBeNames(names: object): void {
  for (const [name, value] of Object.entries(names))
    if (typeof value !== 'string') throw new TypeError(`Expected ${name} to be a text`);
}
