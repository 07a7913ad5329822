import { pause, type Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { ChatRecords } from '../ports/chat-records.js';
import type { ChatSession } from '../session/chat-session.js';
import type { Sessions } from '../session/sessions.js';
import type { Ownership } from './ownership.js';

/** How often it is tried to record again what could not be. */
const RETRY_MS = 500;

export interface RecordingNeeds {
  readonly records: ChatRecords;
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps the records of the chats that this node owns. While that cannot be done (LIF-4) nothing waits for it: the journal on
 * this node's disk has what a restart needs, and logs go on under another epoch. Once it can, everything that runs is recorded anew.
 */
export class Recording {
  #isUp = true;
  /** While it is tried to record again what could not be: what is added meanwhile stands behind that. */
  #isTrying = false;
  #isClosed = false;
  #sessions: Pick<Sessions, 'get' | 'orTakingUp'> | null = null;

  constructor(private readonly needs: RecordingNeeds) {}

  /** Whether other nodes could go on from what this one has told. */
  get isUp(): boolean {
    return this.#isUp;
  }

  of(sessions: Sessions): void {
    this.#sessions = sessions;
  }

  /** Resolves when what was added before is safe, or nothing can be done for it; never rejects. */
  readonly keep = async (): Promise<void> => {
    if (!this.#isUp) return this.#isTrying ? undefined : this.needs.records.discard();
    try {
      const { lost, gone } = await this.needs.records.commit();
      for (const { chatId, fence } of lost) this.needs.ownership.lose(chatId, fence);
      if (gone.length > 0) await this.#again(gone);
    } catch (error) {
      this.#down(error);
    }
  };

  /** Tries nothing any more. */
  close(): void {
    this.#isClosed = true;
  }

  #down(error: unknown): void {
    if (!this.#isUp || this.#isClosed) return;
    this.#isUp = false;
    for (const chatId of this.needs.ownership.chats()) {
      const holding = this.needs.ownership.holding(chatId);
      if (holding) holding.isRecorded = false;
      this.#sessions?.get(chatId)?.beginEpoch();
    }
    this.needs.log.error({ err: error }, 'chats cannot be recorded for other nodes at present');
    void this.#untilUp();
  }

  async #untilUp(): Promise<void> {
    const { ownership, clock, log } = this.needs;
    while (!this.#isClosed) {
      await pause(clock, RETRY_MS);
      this.#isTrying = true;
      try {
        await this.#again([...ownership.chats()]);
        this.#isUp = true;
        log.info('chats are recorded for other nodes again');
        return await this.keep();
      } catch {
        // Said once, when it began.
      } finally {
        this.#isTrying = false;
      }
    }
  }

  /** @throws {ChatError} `storage_unavailable` */
  async #again(chatIds: readonly string[]): Promise<void> {
    const { ownership, records } = this.needs;
    for (const chatId of chatIds) {
      const holding = ownership.holding(chatId);
      // What is being taken up is still as its owner before has left it, where it is not in memory already.
      holding?.record.restart(holding.left);
      const session = this.#sessions?.orTakingUp(chatId);
      if (session) recordAnew(session);
    }
    const { lost } = await records.commit();
    for (const { chatId, fence } of lost) ownership.lose(chatId, fence);
  }
}

/** All that another node would need, as it stands. */
function recordAnew({ recorder, turns }: ChatSession): void {
  for (const live of turns.values()) {
    if (!live.isJournaled) continue;
    const { state } = live;
    recorder.noteAgain(live.key, ['begin', live.record]);
    for (const message of live.messages.messages) recorder.noteAgain(live.key, ['message', message]);
    recorder.noteAgain(live.key, ['deleted', [...live.deletedStored, ...live.messages.deletedIds]]);
    for (const record of live.stepRecords()) recorder.noteAgain(live.key, ['step', record]);
    if (state.phase === 'unsaved') recorder.noteAgain(live.key, ['end', state.end.turn]);
  }
}
