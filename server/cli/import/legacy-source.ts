import type { SqlKey, SqlRow } from './sql.js';

/** A conversation of the old tables. */
export interface LegacyChat {
  /** Its row of `agent_chat`; null where rows of `agent_history` name a chat that is not there. */
  readonly row: SqlRow | null;
  /** What its rows call it; null for those that name none. */
  readonly cid: string | null;
  /** Whose it is: the old system's user, or a session of nobody known. */
  readonly sid: string | null;
  /** Whether no other conversation has this `cid`, or this one comes first. */
  readonly isFirst: boolean;
}

/** A conversation where it stands. */
export interface FoundChat extends LegacyChat {
  /** Of its row of `agent_chat`. */
  readonly id: string | null;
  /** Why its row of `agent_chat` is not read; null where it is, or there is none. */
  readonly unread: string | null;
  /** The values by which its rows are found. */
  readonly key: { readonly cid: SqlKey; readonly sid: SqlKey };
}

/** A row of `agent_history`, or why it is not read. */
export type FoundRow = { readonly id: string | null } & (
  { readonly row: SqlRow; readonly unread: null } | { readonly row: null; readonly unread: string }
);

/** The old tables, read in loads: memory grows neither with their rows nor with what is in one. */
export interface LegacySource {
  /** How many rows `agent_history` had when it was opened. */
  readonly rowCount: number;
  /** The conversations: those of `agent_chat` in its order, then those that only `agent_history` knows. */
  chats(): AsyncGenerator<FoundChat, void>;
  /** The rows of a conversation, in the order of their ids. */
  rows(chat: FoundChat): AsyncGenerator<readonly FoundRow[], void>;
  close(): Promise<void>;
}
