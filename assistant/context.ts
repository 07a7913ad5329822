import type { Assignment, Chat, Json, JsonObject, Message, OpInput, Turn } from '../protocol/index.js';

/**
 * Where an assistant's ops go: into the turn's buffer in-process, or over the wire from an agent. `push` takes the ops
 * when it is called, in order; its promise resolves when more may come (AGT-6).
 */
export interface Sink {
  /** @throws {ChatError} a refused op; nothing of these ops was applied */
  push(ops: readonly OpInput[]): Promise<void>;
}

/** A message as an assistant writes it; a plain string stands for a text. */
export type MessageDraft =
  | string
  | {
      readonly type: string;
      readonly props: JsonObject;
      readonly messageId?: string;
      readonly role?: 'user' | 'assistant';
      readonly blockId?: string | null;
      readonly threadId?: string | null;
      readonly stepId?: string | null;
      readonly metadata?: JsonObject | null;
    };

/** What an assistant sees of its turn, and what it can do in it. Every method resolves when more may come. */
export interface Context {
  readonly turn: Turn;
  readonly chat: Chat;
  /** The messages to answer. */
  readonly input: readonly Message[];
  /** What a model needs of the chat's earlier turns, oldest first (AGT-7). */
  readonly history: readonly Message[];
  /** Metadata of the turn, {} where none was given. */
  readonly metadata: JsonObject;
  /** What an earlier attempt left, null in the first one (TRN-9). */
  readonly resume: Assignment['resume'];
  /** Fires when the turn was stopped or has ended otherwise; its `reason` is an Error with the cause's name. */
  readonly abortSignal: AbortSignal;

  /** Opens a message; gives its id. It stays open for the other methods until {@link end} or the end of the turn. */
  send(message: MessageDraft): Promise<string>;
  /** Appends to the text at `path` (default `content`). */
  append(messageId: string, text: string, path?: string): Promise<void>;
  /** Replaces the whole content. */
  replace(messageId: string, message: MessageDraft): Promise<void>;
  /** Merges deeply at `path`, or into the props themselves. */
  merge(messageId: string, value: Json, path?: string): Promise<void>;
  /** Sets the value at `path`. */
  set(messageId: string, path: string, value: Json): Promise<void>;
  /** Closes a message: it is final. */
  end(messageId: string): Promise<void>;
  /** Tells those who are connected now; nothing is stored. */
  signal(name: string, data?: Json): Promise<void>;
}

export interface ContextNeeds {
  readonly assignment: Assignment;
  readonly sink: Sink;
  readonly abortSignal: AbortSignal;
  /** Makes a message id that is unique in the world. */
  readonly newId: () => string;
}

const asMessage = (draft: MessageDraft) =>
  typeof draft === 'string' ? { type: 'text', props: { content: draft } } : draft;

export function createContext({ assignment, sink, abortSignal, newId }: ContextNeeds): Context {
  const { turn, chat, input, history, resume } = assignment;
  return {
    turn,
    chat,
    input,
    history,
    resume,
    abortSignal,
    metadata: turn.metadata ?? {},
    async send(draft) {
      const { messageId = newId(), ...rest } = asMessage(draft);
      await sink.push([{ op: 'send', messageId, ...rest }]);
      return messageId;
    },
    append: (messageId, text, path) =>
      sink.push([{ op: 'append', messageId, text, ...(path === undefined ? {} : { path }) }]),
    replace: (messageId, draft) => {
      const { type, props } = asMessage(draft);
      return sink.push([{ op: 'replace', messageId, type, props: { ...props } }]);
    },
    merge: (messageId, value, path) =>
      sink.push([{ op: 'merge', messageId, value, ...(path === undefined ? {} : { path }) }]),
    set: (messageId, path, value) => sink.push([{ op: 'set', messageId, path, value }]),
    end: (messageId) => sink.push([{ op: 'end', messageId }]),
    signal: (name, data = null) => sink.push([{ op: 'signal', name, data }]),
  };
}
