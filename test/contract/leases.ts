import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../server/clock.js';
import type { Leases } from '../../server/ports/leases.js';
import { freezableClock } from '../harness/freezable-clock.js';
import { until } from '../harness/until.js';

/** How quick the nodes of these tests are: a fifth of the time that servers take. */
export const HEARTBEAT_MS = 600;
export const LIFE_MS = 1800;

/** Joins nodes to one cluster. */
export type Join = (options: { readonly clock: Clock }) => Promise<Leases>;

/** A node of a test, and what it was told. */
export interface TestNode extends Leases {
  readonly deaths: { readonly nodeId: string; readonly chatIds: readonly string[] }[];
  readonly standings: string[];
  readonly taken: string[];
  /** No timer of it fires until {@link thaw}: it is paused, or as good as dead. */
  freeze(): void;
  thaw(): void;
}

export async function testNode(join: Join): Promise<TestNode> {
  const clock = freezableClock();
  const leases = await join({ clock });
  const node = Object.assign(leases, {
    deaths: [] as TestNode['deaths'],
    standings: [] as string[],
    taken: [] as string[],
    freeze: () => clock.freeze(),
    thaw: () => clock.thaw(),
  });
  leases.onDeath((nodeId, chatIds) => node.deaths.push({ nodeId, chatIds }));
  leases.onStanding((standing) => node.standings.push(standing));
  leases.onTaken((chatIds) => node.taken.push(...chatIds));
  onTestFinished(() => leases.close());
  return node;
}

/** For what happens by the time alone, or must not happen in it. */
export function elapsed(ms: number): Promise<unknown> {
  const end = performance.now() + ms;
  return until(() => performance.now() > end, 'time');
}

/** Waits until `node` was told that `dead` left these chats. */
export const isToldOf = (node: TestNode, dead: TestNode, ...chatIds: string[]): Promise<unknown> =>
  until(
    () =>
      node.deaths.some((death) => death.nodeId === dead.nodeId && [...death.chatIds].sort().join() === chatIds.join()),
    `a death that left ${chatIds.join()}`,
  );

/** The promises of `server/ports/leases.ts`, for every implementation. `cluster` gives a new one. */
export function leasesContract(name: string, cluster: () => Promise<Join>): void {
  const nodes = async (count: number): Promise<TestNode[]> => {
    const join = await cluster();
    const joined: TestNode[] = [];
    while (joined.length < count) joined.push(await testNode(join));
    return joined;
  };
  const two = async () => (await nodes(2)) as [TestNode, TestNode];
  const three = async () => (await nodes(3)) as [TestNode, TestNode, TestNode];

  describe(name, () => {
    it('gives a chat that nobody has to the one who asks, and tells others who it is', async () => {
      const [a, b] = await two();
      expect(await a.ownerOf('chat')).toBeNull();
      expect(await a.acquire('chat')).toBe(a.nodeId);
      expect(await a.acquire('chat')).toBe(a.nodeId);
      expect(await b.acquire('chat')).toBe(a.nodeId);
      expect(await b.ownerOf('chat')).toBe(a.nodeId);
      expect(await b.ownerOf('another')).toBeNull();
    });

    it('LIF-4: of 50 nodes that acquire a chat at once, one owns it', async () => {
      const racing = await nodes(50);
      const answers = await Promise.all(racing.map((node) => node.acquire('chat')));
      const owners = new Set(answers);
      expect(owners.size).toBe(1);
      expect(racing.map(({ nodeId }) => nodeId)).toContain([...owners][0]);
    });

    it('a release is the owner’s alone', async () => {
      const [a, b] = await two();
      await a.acquire('chat');
      await b.release('chat');
      expect(await b.ownerOf('chat')).toBe(a.nodeId);
      await a.release('chat');
      expect(await b.acquire('chat')).toBe(b.nodeId);
      expect(await a.acquire('chat')).toBe(b.nodeId);
    });

    it('LIF-4: who could not end what was left in a chat gives it back: it is told of again as the dead node’s, or is nobody’s', async () => {
      const [dead, b, c] = await three();
      await dead.acquire('x');
      dead.freeze();
      await isToldOf(c, dead, 'x');
      for (const chatId of ['x', 'y']) await b.acquire(chatId);
      c.deaths.length = 0;
      for (const chatId of ['x', 'y']) await b.giveBack(chatId);
      for (const chatId of ['x', 'y']) expect(await c.ownerOf(chatId)).toBeNull();
      await isToldOf(c, dead, 'x');
      expect(await c.acquire('x')).toBe(c.nodeId);
      expect(await c.acquire('y')).toBe(c.nodeId);
      // It is another's by now.
      await b.giveBack('x');
      expect(await b.ownerOf('x')).toBe(c.nodeId);
    });

    it('knows the living', async () => {
      const [a, b] = await two();
      expect(new Set(await a.nodes())).toEqual(new Set([a.nodeId, b.nodeId]));
      await b.close();
      expect(await a.nodes()).toEqual([a.nodeId]);
    });

    it('who closes releases all, however much, and nobody hears of a death', async () => {
      const [a, b, c] = await three();
      const chatIds = Array.from({ length: 2500 }, (_, index) => `chat-${index}`);
      await Promise.all(chatIds.map((chatId) => a.acquire(chatId)));
      await a.close();
      for (const chatId of ['chat-0', 'chat-999', 'chat-2499']) {
        expect(await b.acquire(chatId)).toBe(b.nodeId);
      }
      await expect(a.acquire('chat-0')).rejects.toMatchObject({ code: 'storage_unavailable' });
      // A death after it is told, so that this one would have been.
      c.freeze();
      await isToldOf(b, c);
      expect(b.deaths.map(({ nodeId }) => nodeId)).toEqual([c.nodeId]);
    });

    it('LIF-4: a death is told to every living node within 15 s, and whoever is first takes over', async () => {
      const [dead, b, c] = await three();
      for (const chatId of ['x', 'y']) await dead.acquire(chatId);
      await b.acquire('z');
      // So long a node has to know the others before it declares one of them dead.
      await elapsed(LIFE_MS);
      dead.freeze();
      const diedAt = performance.now();
      await Promise.all([isToldOf(b, dead, 'x', 'y'), isToldOf(c, dead, 'x', 'y')]);
      expect(performance.now() - diedAt).toBeLessThan((15_000 / 9000) * LIFE_MS);
      expect(b.standing).toBe('held');
      expect(await b.ownerOf('x')).toBeNull();
      expect([...(await b.nodes())].sort()).toEqual([b.nodeId, c.nodeId].sort());
      const [byB, byC] = await Promise.all([b.acquire('x'), c.acquire('x')]);
      expect(byB).toBe(byC);
      expect([b.nodeId, c.nodeId]).toContain(byB);
      expect(await b.acquire('z')).toBe(b.nodeId);
    });

    it('LIF-4: a death is told again until nothing is left, also to those who join later', async () => {
      const join = await cluster();
      const dead = await testNode(join);
      const b = await testNode(join);
      for (const chatId of ['x', 'y']) await dead.acquire(chatId);
      dead.freeze();
      await isToldOf(b, dead, 'x', 'y');
      await b.acquire('x');
      await isToldOf(b, dead, 'y');
      const c = await testNode(join);
      await isToldOf(c, dead, 'y');
      expect(await c.acquire('y')).toBe(c.nodeId);
    });

    it('LIF-4: who dies over a takeover is taken over from', async () => {
      const [a, b, c] = await three();
      await a.acquire('x');
      a.freeze();
      await isToldOf(b, a, 'x');
      expect(await b.acquire('x')).toBe(b.nodeId);
      b.freeze();
      await isToldOf(c, b, 'x');
      expect(await c.acquire('x')).toBe(c.nodeId);
    });

    it('LIF-4: a node that was paused for too long knows at once that it is unsure, and then that it has lost', async () => {
      const [a, b] = await two();
      for (const chatId of ['x', 'y']) await a.acquire(chatId);
      a.freeze();
      await isToldOf(b, a, 'x', 'y');
      await b.acquire('x');
      expect(a.standing).toBe('unsure');
      a.thaw();
      await until(() => a.standing === 'lost', 'the loss');
      expect(a.standings).toEqual(['unsure', 'lost']);
      for (const call of [a.acquire('x'), a.acquire('new'), a.ownerOf('x'), a.release('x'), a.nodes()]) {
        await expect(call).rejects.toMatchObject({ code: 'storage_unavailable' });
      }
      await a.close();
      // What it had not lost by name yet is still the dead node's.
      expect(await b.acquire('y')).toBe(b.nodeId);
      expect(await b.ownerOf('x')).toBe(b.nodeId);
    });
  });
}
