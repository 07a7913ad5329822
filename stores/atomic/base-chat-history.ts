import type { SchemaInstance } from './schema-registry.js';

/** One message of a history. */
export interface HistoryMessage {
  /** Any word: `user`, `assistant`, `system`, `tool`… */
  readonly role: string;
  readonly content: SchemaInstance;
  readonly turnId: string | null;
}

/** A message as a model's client takes it. */
export interface WireMessage {
  readonly role: string;
  readonly content: string | unknown[];
}

const CONTRACT = [
  'initializeTurn',
  'addMessage',
  'getHistory',
  'getCurrentTurnId',
  'deleteTurnId',
  'getMessageCount',
  'dump',
  'load',
  'copy',
] as const;

/**
 * The contract of a chat history in Atomic Agents, with zod schemas in place of pydantic. It has no state of its own: a
 * class that lacks one of its methods cannot be instantiated, also where no compiler says so.
 */
export abstract class BaseChatHistory {
  /** The working list; an agent reads the turns in it to decide which to trim. */
  abstract readonly history: readonly HistoryMessage[];
  /** Null before the first turn. */
  abstract currentTurnId: string | null;

  /** @throws {TypeError} a class that does not keep the whole contract */
  constructor() {
    const missing = CONTRACT.filter((name) => typeof (this as Partial<BaseChatHistory>)[name] !== 'function');
    if (missing.length > 0)
      throw new TypeError(`Can't instantiate ${new.target.name} without ${missing.join(', ')}: it is abstract.`);
  }

  /** Starts a turn under a new, unique id; adds no message. */
  abstract initializeTurn(): void;
  /** Adds a message to the current turn, which it starts where there is none. @throws {ValueError} */
  abstract addMessage(role: string, content: SchemaInstance): void;
  /** The list as a model's client takes it. */
  abstract getHistory(): WireMessage[];
  abstract getCurrentTurnId(): string | null;
  /** Deletes the messages of a turn. @throws {ValueError} where there are none */
  abstract deleteTurnId(turnId: string): void;
  abstract getMessageCount(): number;
  /** The whole state as JSON text. */
  abstract dump(): string;
  /** Takes the state of a dump in place of its own. @throws {ValueError} a text that is no dump; nothing has changed then */
  abstract load(serialized: string): void;
  /** An independent copy, of the same class and with the same backing. */
  abstract copy(): BaseChatHistory;
}
