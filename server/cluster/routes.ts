import { ChatError } from '../../protocol/index.js';
import { pause, type Clock } from '../clock.js';
import type { Leases } from '../ports/leases.js';
import type { Store } from '../ports/store.js';
import { isNotHere } from './not-here.js';
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
      try {
        return await this.#once(errand);
      } catch (error) {
        const mayRepeat = isNotHere(error) || (errand.repeatable && isAway(error));
        if (!mayRepeat || clock.monotonic() >= deadline) throw error;
        await pause(clock, RETRY_MS);
      }
    }
  }

  async #once<T>({ chatId, creates, here, at }: Errand<T>): Promise<T> {
    const { ownership, leases, store } = this.needs;
    if (ownership.owns(chatId)) return here();
    const known = await leases.ownerOf(chatId);
    if (known !== null && known !== ownership.nodeId) return at(known);
    // For a chat that is not there nothing is written anywhere: what is here says so.
    if (!creates && (await store.getChat(chatId)) === null) return here();
    const owner = await ownership.ownerOf(chatId);
    return owner === ownership.nodeId ? here() : at(owner);
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof ChatError && (error.code === 'storage_unavailable' || error.code === 'draining');
