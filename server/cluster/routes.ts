import { ChatError } from '../../protocol/index.js';
import { pause, type Clock } from '../clock.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import { isAway, isUndone } from './not-here.js';
import type { Ownership } from './ownership.js';

/** How long a moving chat is looked for, and how often. */
const PATIENCE_MS = 15_000;
const RETRY_MS = 50;

export interface RoutesNeeds {
  readonly ownership: Ownership;
  readonly leases: Pick<Leases, 'ownerOf'>;
  readonly store: Pick<Store, 'getChat'>;
  readonly clock: Clock;
}

/** A work that is done where a chat is owned. */
export interface Errand<T> {
  readonly chatId: string;
  /** Whether it may make the chat. One that is not there, and is not made, is owned by nobody. */
  readonly creates: boolean;
  /** Whether it may be done twice: then it is done again where nobody knows whether it was. */
  readonly repeatable: boolean;
  readonly here: () => Promise<T>;
  readonly at: (nodeId: string) => Promise<T>;
}

/** Finds the owner of each chat, and does there what is to be done. */
export class Routes {
  constructor(private readonly needs: RoutesNeeds) {}

  /** @throws {ChatError} what the work throws; `storage_unavailable`, `draining` where no owner is found */
  async run<T>(errand: Errand<T>): Promise<T> {
    const { clock } = this.needs;
    const deadline = clock.monotonic() + PATIENCE_MS;
    for (;;) {
      let isFound = false;
      try {
        const owner = await this.#find(errand);
        isFound = true;
        return await (owner === this.needs.ownership.nodeId ? errand.here() : errand.at(owner));
      } catch (error) {
        const isPassing = isFound ? isAway(error) : isUnavailable(error);
        const mayRepeat = isUndone(error) || (errand.repeatable && isPassing);
        if (!mayRepeat || clock.monotonic() >= deadline) throw error;
        await pause(clock, RETRY_MS);
      }
    }
  }

  /** Where it is to be done. */
  async #find({ chatId, creates }: Errand<unknown>): Promise<string> {
    const { ownership, leases, store } = this.needs;
    if (ownership.owns(chatId)) return ownership.nodeId;
    const known = await leases.ownerOf(chatId);
    if (known !== null && known !== ownership.nodeId) return known;
    // For a chat that is not there nothing is written anywhere: what is here says so.
    if (!creates && (await store.getChat(chatId)) === null) return ownership.nodeId;
    return ownership.ownerOf(chatId);
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof ChatError && (error.code === 'storage_unavailable' || error.code === 'draining');
