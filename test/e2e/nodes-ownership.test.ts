import { expect, test } from 'vitest';
import type { Result } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { connected } from '../harness/postgres-database.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** Two nodes, and what Redis and the database know of their chats. */
async function twoNodes(env: Record<string, string> = {}) {
  const nodes = new Nodes();
  const [a, b] = [await nodes.start({ env }), await nodes.start({ env })];
  const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
  const { DATABASE_URL: database = '' } = nodes.env;
  const ownerOf = (chatId: string) => nodes.redis('HGET', `owner:${chatId}`, 'node');
  const known = async () => ({
    keys: ((await nodes.redis('KEYS', '*')) as string[]).filter((key) => !/(nodes|inbox:|rate:)/.test(key)),
    rows: await connected(database, async (client) => (await client.query('SELECT chat_id FROM agent_lease')).rowCount),
  });
  return { a, b, ann, bob, ownerOf, known };
}

describeOnRedis('which node owns a chat', () => {
  test('LIF-4: of chats that are not there nothing is written anywhere', async () => {
    const { b, ann, bob, known } = await twoNodes();
    const agent = await new Agent(b.url, ['bot']).join();
    const [chatId, requestId, messageId] = [uid('c'), uid('r'), uid('m')];
    const message = { role: 'user', type: 'text', props: { content: 'x' } };
    const codes = await Promise.all(
      [ann, bob].flatMap((person) =>
        Object.entries({
          'chat:get': { chatId },
          'chat:update': { chatId, title: 'x' },
          'chat:delete': { chatId },
          'chat:subscribe': { chatId },
          'message:list': { chatId },
          'message:save': { chatId, messages: [message] },
          'message:update': { messageId, props: {} },
          'message:delete': { chatId, messageIds: [messageId] },
          'turn:start': { chatId, input: 'x' },
          'turn:stop': { chatId },
          'turn:resume': { requestId },
          'turn:get': { requestId },
          'turn:list': { chatId },
          'step:list': { requestId },
          'step:stack': { stackId: uid('k') },
          'step:incomplete': { chatId },
          typing: { chatId, typing: true },
        }).map(async ([command, args]) => [command, (await person.refused(command, args)).code]),
      ),
    );
    expect(codes.filter(([, code]) => code !== 'not_found')).toEqual([]);
    await agent.refused('turn:open', { chatId, assistantId: 'bot' });
    await agent.refused('turn:push', { requestId, attempt: 1, seq: 1, ops: [] });
    expect(await known()).toEqual({ keys: [], rows: 0 });
  });

  test('LIF-3, LIF-4: a chat that nobody needs is nobody’s; whoever needs it next goes on with it, and nothing is lost', async () => {
    const { a, b, ann, bob, ownerOf } = await twoNodes({ LOG_TTL_MS: '200' });
    const chatId = await ann.createChat();
    await ann.follow(chatId);
    const first = (await ann.start(chatId, 'first')).turn;
    await ann.ended(chatId, first.requestId);
    const before = await ownerOf(chatId);
    expect(before).not.toBeNull();
    const revisionAt = async (person: Person) =>
      (await person.do<Result<'message:list'>>('message:list', { chatId, withRevision: true })).revision;
    const revision = await revisionAt(bob);
    expect(await revisionAt(ann)).toBe(revision);
    await ann.do('chat:unsubscribe', { chatId });
    await until(async () => (await ownerOf(chatId)) === null, 'the lease given up');
    await bob.follow(chatId);
    const second = (await bob.start(chatId, 'second')).turn;
    await bob.ended(chatId, second.requestId);
    expect(await ownerOf(chatId)).not.toBe(before);
    // CMD-5: what was read at the owner before has to be read again.
    expect(await revisionAt(bob)).not.toBe(revision);
    expect(await revisionAt(ann)).toBe(await revisionAt(bob));
    const history = await expectConsistent(a.url, chatId, [bob]);
    await expectConsistent(b.url, chatId, [bob]);
    expect(history.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });

  test('LIF-3, LIF-4: nor does one stay with a node that has only read it, or was to make it in vain', async () => {
    const { ann, bob, ownerOf } = await twoNodes({ LOG_TTL_MS: '200' });
    const [chatId, vain] = [await ann.createChat(), uid('c')];
    await until(async () => (await ownerOf(chatId)) === null, 'the lease given up');
    await bob.do('chat:get', { chatId });
    await ann.refused('turn:start', { chatId: vain, createChat: true, regenerate: uid('r') });
    for (const id of [chatId, vain])
      await until(async () => (await ownerOf(id)) === null, 'the lease given up', 20_000);
    await ann.do('chat:update', { chatId, title: 'still there' });
    expect(await bob.do('chat:get', { chatId })).toMatchObject({ chat: { title: 'still there' } });
  }, 40_000);

  test('LIF-4: followers keep a chat where it is, from whichever node they follow', async () => {
    const { ann, bob, ownerOf } = await twoNodes({ LOG_TTL_MS: '200' });
    const chatId = await ann.createChat();
    await bob.follow(chatId);
    const owner = await ownerOf(chatId);
    const idle = await ann.createChat();
    // Another that nobody follows is swept meanwhile.
    await until(async () => (await ownerOf(idle)) === null, 'the lease of the other given up');
    expect(await ownerOf(chatId)).toBe(owner);
  });
});
