import { describe, expect, it } from 'vitest';
import { anId, at, type StoreUnderTest } from './values.js';

/** Who holds a chat among several nodes (LIF-4). */
export function leaseContract(open: () => StoreUnderTest): void {
  describe('leases', () => {
    it('LIF-4: each taking of a chat, there or not, raises its fence by one', async () => {
      const { store } = open();
      const [chatId, other] = [anId('chat'), anId('chat')];
      expect(await store.takeChat(chatId, 'node-a', at(0))).toBe(1);
      expect(await store.takeChat(chatId, 'node-b', at(1))).toBe(2);
      expect(await store.takeChat(chatId, 'node-b', at(2))).toBe(3);
      expect(await store.takeChat(other, 'node-a', at(3))).toBe(1);
      const fences = await store.fencesOf([chatId, other, anId('chat')]);
      expect([...fences].sort()).toEqual(
        [
          [chatId, 3],
          [other, 1],
        ].sort(),
      );
    });

    it('LIF-4: the store knows who has taken a chat last', async () => {
      const { store } = open();
      const chatId = anId('chat');
      expect(await store.holderOf(chatId)).toBeNull();
      for (const nodeId of ['node-a', 'node-b']) {
        await store.takeChat(chatId, nodeId, at(0));
        expect(await store.holderOf(chatId)).toBe(nodeId);
      }
    });

    it('LIF-4: of many that take a chat at once each has a fence of its own', async () => {
      const { store } = open();
      const chatId = anId('chat');
      const fences = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.takeChat(chatId, `node-${n}`, at(n))),
      );
      expect(fences.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });
  });
}
