import type { Message, Turn } from '../../protocol/index.js';
import type { ChatRecord } from '../ports/chat-records.js';
import type { AttemptKey, Journal } from '../ports/journal.js';
import type { LoggedEvent } from '../ports/live-log.js';
import type { StepRecord, TurnRecord } from '../ports/store.js';

/**
 * What is written down of an attempt beside its events. Where these were not at hand: `message`, how one stood, and `deleted`,
 * which were not to stand any more.
 */
export type Note =
  | readonly ['begin', TurnRecord]
  | readonly ['message', Message]
  | readonly ['deleted', readonly string[]]
  | readonly ['step', StepRecord]
  | readonly ['end', Turn];

/**
 * What a chat writes down before anybody sees it: in the journal of this process (LIF-2) and, where other nodes may have to go
 * on with it, in the chat's record (LIF-4).
 */
export class Recorder {
  /** Null where this is the only node. */
  record: ChatRecord | null = null;

  constructor(private readonly journal: Journal) {}

  /** An event of the log; with the attempt whose messages it tells of. */
  event({ json }: LoggedEvent, attempt: AttemptKey | null): void {
    if (attempt !== null) this.journal.add(attempt, `["event",${json}]`);
    this.record?.add({ kind: 'event', attempt, json });
  }

  note(attempt: AttemptKey, note: Note): void {
    const json = JSON.stringify(note);
    this.journal.add(attempt, json);
    this.record?.add({ kind: 'note', attempt, json });
  }

  /** For a record that was begun anew: the journal has it. */
  noteAgain(attempt: AttemptKey, note: Note): void {
    this.record?.add({ kind: 'note', attempt, json: JSON.stringify(note) });
  }

  /** The attempt is stored, or its chat is gone. */
  forget(attempt: AttemptKey): void {
    this.journal.forget(attempt);
    this.record?.forget(attempt);
  }

  close(): void {
    this.record?.close();
  }
}
