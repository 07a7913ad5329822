import { afterAll, beforeAll, describe } from 'vitest';
import { behaviourContract } from './store/behaviour.js';
import { chatListContract } from './store/chat-list.js';
import { chatContract } from './store/chats.js';
import { leaseContract } from './store/leases.js';
import { messageContract } from './store/messages.js';
import { revocationContract } from './store/revocations.js';
import { seedContract } from './store/seed.js';
import { stepContract } from './store/steps.js';
import { turnWriteContract } from './store/turn-writes.js';
import { turnContract } from './store/turns.js';
import type { StoreUnderTest } from './store/values.js';

export type { StoreUnderTest };

/**
 * Every promise of the store port, as tests. "seed 51" names the case of the seed design's own suite that a test
 * re-creates, "C22" a failure that users of other systems reported.
 *
 * @param open a store on an empty database of its own
 */
export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let opened: StoreUnderTest | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());
    const current = (): StoreUnderTest => {
      if (!opened) throw new Error('the store is not open');
      return opened;
    };

    chatContract(current);
    chatListContract(current);
    messageContract(current);
    turnContract(current);
    stepContract(current);
    turnWriteContract(current);
    revocationContract(current);
    leaseContract(current);
    behaviourContract(current, open);
    seedContract(current);
  });
}
