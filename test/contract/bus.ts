import { describe, expect, it, onTestFinished } from 'vitest';
import type { Bus } from '../../server/ports/bus.js';
import { until } from '../harness/until.js';

/** Opens the bus of the node of this name. */
export type OpenBus = (nodeId: string) => Promise<Bus>;

/** A node's bus, and what came over it: messages, and `null` for a gap, by sender. */
export interface TestBus {
  readonly bus: Bus;
  readonly came: Record<string, (string | null)[]>;
}

export async function testBus(open: OpenBus, nodeId: string): Promise<TestBus> {
  const bus = await open(nodeId);
  const came: Record<string, (string | null)[]> = {};
  bus.onMessage((from, message) => (came[from] ??= []).push(message));
  bus.onGap((from) => (came[from] ??= []).push(null));
  onTestFinished(() => bus.close());
  return { bus, came };
}

/** Waits until the last that came from somebody is this. */
export const ends = (came: TestBus['came'], from: string, last: string | null): Promise<unknown> =>
  until(() => came[from]?.at(-1) === last, `${String(last).slice(0, 40)} from ${from}`, 20_000);

export const numbered = (count: number, text = 'message'): string[] =>
  Array.from({ length: count }, (_, index) => `${text} ${index}`);

/** The promises of `server/ports/bus.ts`, for every implementation. `network` gives a new one. */
export function busContract(name: string, network: () => OpenBus): void {
  describe(name, () => {
    it('brings a message to whom it is for, with its sender, as it is', async () => {
      const open = network();
      const [a, b, c] = [await testBus(open, 'a'), await testBus(open, 'b'), await testBus(open, 'c')];
      const texts = ['', ' ', '{"a":1}', 'a\r\nb\0', 'žluťoučký 🐎', '\ud83d\udc0e'.repeat(1000)];
      for (const text of texts) a.bus.send('b', text);
      a.bus.send('a', 'to itself');
      c.bus.send('b', 'last');
      await Promise.all([ends(b.came, 'a', texts.at(-1)!), ends(b.came, 'c', 'last'), ends(a.came, 'a', 'to itself')]);
      expect(b.came).toEqual({ a: texts, c: ['last'] });
      expect(a.came).toEqual({ a: ['to itself'] });
      expect(c.came).toEqual({});
    });

    it('keeps the order of each sender, 10,000 messages from three at once', async () => {
      const open = network();
      const receiver = await testBus(open, 'receiver');
      const senders = ['a', 'b', 'c'];
      const messages = numbered(10_000);
      const send = async (nodeId: string): Promise<void> => {
        const { bus } = await testBus(open, nodeId);
        for (const [index, message] of messages.entries()) {
          bus.send('receiver', message);
          // Some go out together, some alone.
          if (index % 97 < 3) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all(senders.map(send));
      await Promise.all(senders.map((from) => ends(receiver.came, from, messages.at(-1)!)));
      for (const from of senders) expect(receiver.came[from]).toEqual(messages);
    });

    it('carries messages of 1 MiB, and small ones between them', async () => {
      const open = network();
      const [a, b] = [await testBus(open, 'a'), await testBus(open, 'b')];
      const messages = numbered(8).flatMap((text) => [text.padEnd(1024 * 1024, '.'), text]);
      for (const message of messages) a.bus.send('b', message);
      await ends(b.came, 'a', 'message 7');
      expect(b.came['a']!.length).toBe(messages.length);
      expect(b.came['a']!.every((message, index) => message === messages[index])).toBe(true);
    });

    it('keeps for a while what is for somebody who is not there', async () => {
      const open = network();
      const a = await testBus(open, 'a');
      for (const text of numbered(3)) a.bus.send('late', text);
      await a.bus.close();
      const late = await testBus(open, 'late');
      await ends(late.came, 'a', 'message 2');
      expect(late.came['a']).toEqual(numbered(3));
    });

    it('sends what waits before it closes, and nothing after it', async () => {
      const open = network();
      const [a, b] = [await testBus(open, 'a'), await testBus(open, 'b')];
      expect(a.bus.isUp).toBe(true);
      a.bus.send('b', 'last');
      await a.bus.close();
      expect(a.bus.isUp).toBe(false);
      a.bus.send('b', 'after it');
      (await testBus(open, 'c')).bus.send('b', 'end');
      await ends(b.came, 'c', 'end');
      expect(b.came['a']).toEqual(['last']);
    });

    it('a sender that begins anew under its name is a gap', async () => {
      const open = network();
      const b = await testBus(open, 'b');
      const first = await testBus(open, 'a');
      first.bus.send('b', 'first');
      await first.bus.close();
      const second = await testBus(open, 'a');
      for (const text of numbered(2)) second.bus.send('b', text);
      await ends(b.came, 'a', 'message 1');
      expect(b.came['a']).toEqual(['first', null, 'message 0', 'message 1']);
    });

    it('a receiver that begins anew under its name is told of what it missed by a gap', async () => {
      const open = network();
      const a = await testBus(open, 'a');
      const first = await testBus(open, 'b');
      for (const text of numbered(3)) a.bus.send('b', text);
      await ends(first.came, 'a', 'message 2');
      await first.bus.close();
      const second = await testBus(open, 'b');
      a.bus.send('b', 'next');
      await ends(second.came, 'a', 'next');
      expect(second.came['a']!.filter((message) => message !== null).at(-1)).toBe('next');
      expect(second.came['a']![0]).toBeNull();
    });
  });
}
