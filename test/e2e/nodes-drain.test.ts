import { expect, test } from 'vitest';
import type { Chat } from '../../client/index.js';
import { ChatError } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { answerIn, clientOf, endOf, expectSameViews, opened } from '../harness/sdk.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

const TAKEOVER_MS = 20_000;
const words = (count: number): string => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');

/** Starts a turn under its id until it is taken, as whoever meets a node that leaves does (TRN-1). */
async function startedIn(chat: Chat, requestId: string): Promise<void> {
  const metadata = { delayMs: 10 };
  await until(
    () =>
      chat.start(words(5), { requestId, metadata }).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof ChatError) || !error.retryable) throw error;
          return false;
        },
      ),
    'a start',
    30_000,
  );
}

/** The same person at another node, with all that was seen. */
async function movedTo(url: string, person: Person, chatId: string): Promise<Person> {
  const there = await new Person(url, person.as).open();
  const chat = person.chats.get(chatId);
  if (chat) there.chats.set(chatId, chat);
  await there.follow(chatId);
  return there;
}

describeOnRedis('LIF-1, LIF-4: nodes that leave', { timeout: 120_000 }, () => {
  test('SIGTERM: what runs gets its time, what waits and every chat go on at the other node, and nobody sees a hole', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process({ DRAIN_MS: '15000' }), await nodes.process()];
    const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
    const [busy, idle] = [await ann.createChat(), await ann.createChat()];
    for (const chatId of [busy, idle]) for (const person of [ann, bob]) await person.follow(chatId);
    await ann.ended(idle, (await ann.start(idle, 'before')).turn.requestId);
    const slow = { metadata: { delayMs: 50 } };
    const { turn: running } = await ann.start(busy, words(60), slow);
    const { turn: queued } = await ann.start(busy, 'and then', slow);
    await until(() => bob.chats.get(busy)?.text(running.requestId).includes('w5 '), 'a word');
    const left = a.signal('SIGTERM');
    // A chat without a turn is the other's at once.
    await until(async () => {
      const { ok } = await bob.ask('turn:start', {
        chatId: idle,
        input: 'at once',
        requestId: 'at-once-0000000000000000',
      });
      return ok;
    }, 'a start at the other node');
    await bob.ended(idle, 'at-once-0000000000000000');
    expect(bob.chats.get(busy)?.ends(running.requestId)).toHaveLength(0);
    expect((await bob.ended(busy, running.requestId)).turn.status).toBe('completed');
    expect((await bob.ended(busy, queued.requestId)).turn.status).toBe('completed');
    expect(await left).toBe(0);
    expect(ann.goaways.map(({ code }) => code)).toContain('shutdown');
    const again = await movedTo(b.url, ann, busy);
    await movedTo(b.url, ann, idle);
    for (const { requestId } of [running, queued]) await again.ended(busy, requestId);
    expect(again.chats.get(busy)?.text(running.requestId)).toBe(words(60));
    await expectConsistent(b.url, busy, [again, bob]);
    await expectConsistent(b.url, idle, [bob]);
    expect(bob.chats.get(busy)?.events.map(({ epoch }) => epoch)).toEqual(
      bob.chats.get(busy)?.events.map(() => bob.chats.get(busy)?.position?.epoch),
    );
  });

  test('TRN-2: the owner is killed right after the ack of a start: the turn runs at another node', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.process()];
    const ann = await new Person(a.url).open();
    const bob = clientOf(b.url);
    const agent = await new Agent(b.url, ['bot']).join();
    const chatId = await ann.createChat({ assistantId: 'bot' });
    const chat = await opened(bob, chatId);
    const { requestId } = (await ann.start(chatId, 'go')).turn;
    await a.kill();
    const isLeft = async (): Promise<boolean> => {
      const { turn } = await bob.call('turn:get', { requestId });
      return turn.status !== 'queued';
    };
    await until(() => isLeft().catch(() => false), 'what became of the turn', TAKEOVER_MS);
    const { status } = (await bob.call('turn:get', { requestId })).turn;
    // It had not begun, and begins; or it had, and has visibly failed.
    if (status === 'running') {
      const run = await agent.run(requestId);
      await run.send('here I am');
      await run.close();
    }
    expect(['completed', 'interrupted']).toContain((await endOf(chat, requestId)).status);
    await expectConsistent(b.url, chatId);
    await expectSameViews(b.url, chat);
  });

  test('LIF-4: all nodes are killed: the first on a new disk ends their turns from the record', async () => {
    const nodes = new Nodes();
    const old = [await nodes.process(), await nodes.process()];
    const seen: { chatId: string; requestId: string; person: Person }[] = [];
    for (const { url } of old) {
      const person = await new Person(url).open();
      const chatId = await person.createChat();
      await person.follow(chatId);
      const { requestId } = (await person.start(chatId, words(200), { metadata: { delayMs: 30 } })).turn;
      await until(() => person.chats.get(chatId)?.text(requestId).includes('w10 '), 'a word');
      seen.push({ chatId, requestId, person });
    }
    await Promise.all(old.map((server) => server.kill()));
    const { url } = await nodes.process();
    for (const { chatId, requestId, person } of seen) {
      const client = clientOf(url);
      const isOver = async (): Promise<boolean> => {
        const { turn } = await client.call('turn:get', { requestId });
        return turn.status === 'interrupted' && turn.stopReason === 'crashed';
      };
      await until(() => isOver().catch(() => false), 'the end of the turn', 2 * TAKEOVER_MS);
      const chat = await opened(client, chatId);
      expect(answerIn(chat, requestId).startsWith(person.chats.get(chatId)?.text(requestId) ?? '-')).toBe(true);
      await expectConsistent(url, chatId);
      await expectSameViews(url, chat);
    }
  });

  test('DAT-4, TRN-1: ten rolling restarts of three nodes under load: nothing is lost, and nothing is there twice', async () => {
    const nodes = new Nodes();
    const servers = [await nodes.process(), await nodes.process(), await nodes.process()];
    const urls = servers.map(({ url }) => url);
    const clients = urls.map((url) => clientOf(url));
    const chatIds: string[] = [];
    for (let n = 0; n < 4; n++) {
      const { chat } = (await clients[n % 3]?.call('chat:create', { assistantId: 'echo' })) ?? {};
      chatIds.push(chat?.chatId ?? '');
    }
    const views = await Promise.all(
      clients.map((client) => Promise.all(chatIds.map((chatId) => opened(client, chatId)))),
    );
    const started: { chatId: string; requestId: string }[] = [];
    const starting: Promise<unknown>[] = [];
    let isOver = false;
    const load = setInterval(() => {
      if (isOver) return;
      const n = started.length;
      const chat = views[n % 3]?.[n % 4];
      if (!chat) return;
      const requestId = uid('r');
      started.push({ chatId: chat.chatId, requestId });
      starting.push(startedIn(chat, requestId));
    }, 200);
    try {
      for (let n = 0; n < 10; n++) {
        const server = servers[n % 3];
        expect(await server?.signal('SIGTERM')).toBe(0);
        await server?.start();
      }
    } finally {
      isOver = true;
      clearInterval(load);
    }
    await Promise.all(starting);
    for (const { chatId, requestId } of started) {
      for (const view of views) {
        const chat = view.find((one) => one.chatId === chatId);
        if (!chat) continue;
        expect((await endOf(chat, requestId)).status).toBe('completed');
        expect(answerIn(chat, requestId)).toBe(words(5));
      }
    }
    for (const [index, chatId] of chatIds.entries()) {
      const history = await expectSameViews(urls[0] as string, ...views.map((view) => view[index] as never));
      const inputs = history.filter(({ role }) => role === 'user').map(({ requestId }) => requestId);
      expect(inputs).toHaveLength(new Set(inputs).size);
      expect(new Set(inputs)).toEqual(
        new Set(started.filter((one) => one.chatId === chatId).map(({ requestId }) => requestId)),
      );
      for (const url of urls) await expectConsistent(url, chatId);
    }
  });
});
