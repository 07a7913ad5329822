import { expect, test } from 'vitest';
import { expectConsistent } from '../harness/consistent.js';
import { Agent } from '../harness/agent.js';
import { Nodes } from '../harness/nodes.js';
import { Person } from '../harness/person.js';
import { temporaryDirectory } from '../harness/server.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

describeOnRedis('several nodes', () => {
  const twoNodes = async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.start(), await nodes.start()];
    return { nodes, a, b };
  };

  test('LIF-4: a chat is served by any node to any client, and all see the same', async () => {
    const { a, b } = await twoNodes();
    const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
    const chatId = await ann.createChat();
    await ann.follow(chatId);
    await bob.follow(chatId);
    const { turn: one } = await bob.start(chatId, 'one two three');
    await ann.ended(chatId, one.requestId);
    const { turn: two } = await ann.start(chatId, 'four five');
    await bob.ended(chatId, two.requestId);
    expect(bob.chats.get(chatId)?.text(one.requestId)).toContain('one two three');
    await expectConsistent(a.url, chatId, [ann, bob]);
    await expectConsistent(b.url, chatId, [ann, bob]);
  });

  test('LIF-4: an agent that is attached to one node streams into a chat that another owns', async () => {
    const { a, b } = await twoNodes();
    const ann = await new Person(a.url).open();
    const agent = await new Agent(b.url, ['bot']).join();
    const chatId = await ann.createChat({ assistantId: 'bot' });
    await ann.follow(chatId);
    const { requestId } = (await ann.start(chatId, 'go')).turn;
    const run = await agent.run(requestId);
    const messageId = await run.send('');
    for (const word of ['a ', 'b ', 'c']) await run.append(messageId, word);
    await until(() => ann.chats.get(chatId)?.text(requestId) === 'a b c', 'the words');
    await run.close();
    await ann.ended(chatId, requestId);
    await expectConsistent(b.url, chatId, [ann]);
  });

  test('LIF-4: a node that cannot start leaves nothing behind: no name among the others, and no data directory that is in use', async () => {
    const { nodes, a, b } = await twoNodes();
    const dataDir = temporaryDirectory();
    const PORT = new URL(a.url).port;
    const names = async (): Promise<number> => Number(await nodes.redis('ZCARD', 'nodes'));
    expect(await names()).toBe(2);
    await expect(nodes.start({ dataDir, env: { PORT } })).rejects.toThrow(`port ${PORT}`);
    expect(await names()).toBe(2);
    const c = await nodes.start({ dataDir });
    const [ann, bob] = [await new Person(c.url).open(), await new Person(b.url).open()];
    const chatId = await ann.createChat();
    await bob.follow(chatId);
    await bob.ended(chatId, (await ann.start(chatId, 'a word')).turn.requestId);
  });
});
