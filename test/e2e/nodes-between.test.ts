import { expect, test } from 'vitest';
import type { Result } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { Person, type FollowedChat } from '../harness/person.js';
import { connected } from '../harness/postgres-database.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** How many rows the database has of this. */
const stored = (nodes: Nodes, sql: string): Promise<number> =>
  connected(nodes.env['DATABASE_URL'] ?? '', async (client) => (await client.query(sql)).rowCount ?? 0);

/** A chat with a turn at this node, as somebody has seen it who is not there any more. */
async function left(url: string): Promise<{ chatId: string; seen: FollowedChat }> {
  const person = await new Person(url).open();
  const chatId = await person.createChat();
  const seen = await person.follow(chatId);
  await person.ended(chatId, (await person.start(chatId, 'go')).turn.requestId);
  person.close();
  return { chatId, seen };
}

/** Whoever has seen this comes back, to another node. */
async function backAt(url: string, seen: FollowedChat, chatId: string): Promise<Person> {
  const person = await new Person(url).open();
  person.chats.set(chatId, seen);
  await person.follow(chatId);
  return person;
}

/** Another node takes the chat as far as the store and the record, and is no more: its fence, or whatever else it does to the store. */
async function takenByADeadOne(nodes: Nodes, chatId: string, more = ''): Promise<void> {
  const fence = await connected(nodes.env['DATABASE_URL'] ?? '', async (client) => {
    const sql = `UPDATE agent_lease SET fence = fence + 1, node_id = 'dead' WHERE chat_id = $1 RETURNING fence`;
    const { rows } = await client.query<{ fence: number }>(sql, [chatId]);
    if (more !== '') await client.query(more);
    return rows[0]?.fence;
  });
  await nodes.redis('XADD', `record:${chatId}`, `${fence}-1`, 'open', '');
  await nodes.redis('PERSIST', `record:${chatId}`);
}

/** A turn at the first of two nodes whose answer is in memory there, and a person at each of them. */
async function running() {
  const nodes = new Nodes();
  const [a, b] = [await nodes.start(), await nodes.start()];
  const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
  const agent = await new Agent(a.url, ['bot']).join();
  const chatId = await ann.createChat({ assistantId: 'bot' });
  const { requestId } = (await ann.start(chatId, 'go')).turn;
  const run = await agent.run(requestId);
  const messageId = await run.send('a word');
  await run.push({ op: 'end', messageId });
  return { nodes, b, ann, bob, run, chatId, requestId, messageId };
}

describeOnRedis('LIF-4: between two owners of a chat', { timeout: 60_000 }, () => {
  test('DAT-4: what is done in memory alone, by a node that has lost the chat and does not know it, is confirmed to nobody', async () => {
    const { nodes, b, ann, chatId, requestId, messageId } = await running();
    await takenByADeadOne(nodes, chatId);
    const { code } = await ann.refused('message:update', { messageId, props: { content: 'edited' } });
    expect(code).toBe('storage_unavailable');
    await until(async () => (await ann.turn(requestId)).status === 'interrupted', 'the end of the turn');
    const history = await expectConsistent(b.url, chatId);
    expect(history.find((message) => message.messageId === messageId)?.props['content']).toBe('a word');
  });

  test('AGT-6: nor is what an agent pushes there', async () => {
    const { nodes, run, chatId } = await running();
    await takenByADeadOne(nodes, chatId);
    await expect(run.send('another')).rejects.toThrow('storage_unavailable');
    expect((await run.aborted()).reason).toBe('moved');
  });

  test('TRN-6: a chat whose owner has lost it to a node that is no more is taken up again by the owner, and its turns end', async () => {
    const { nodes, ann, bob, chatId, requestId, messageId } = await running();
    await takenByADeadOne(nodes, chatId);
    await ann.refused('message:update', { messageId, props: { content: 'edited' } });
    ann.close();
    const ended = `SELECT 1 FROM agent_turn WHERE request_id = '${requestId}' AND stop_reason = 'crashed'`;
    await until(async () => (await stored(nodes, ended)) > 0, 'the end of the turn, though nobody asks for it');
    expect(await bob.turn(requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect((await bob.start(chatId, 'and now?')).turn.status).toBe('running');
  });

  test('SUB-2: what an owner that died has stored and never told is seen by who comes back after the chat was given up again', async () => {
    const nodes = new Nodes();
    const a = await nodes.start();
    const b = await nodes.start({ env: { LOG_TTL_MS: '2000' } });
    const { chatId, seen } = await left(a.url);
    await a.drain();
    const messageId = seen.messages[0]?.messageId ?? '';
    const edit = `UPDATE agent_message SET props = '{"content":"edited"}' WHERE message_id = '${messageId}'`;
    await takenByADeadOne(nodes, chatId, edit);

    const bob = await new Person(b.url).open();
    await bob.follow(chatId);
    await bob.do('chat:unsubscribe', { chatId });
    await until(async () => (await nodes.redis('EXISTS', `owner:${chatId}`)) === 0, 'the chat given up', 20_000);
    await backAt(b.url, seen, chatId);
    expect(seen.messages[0]?.props['content']).toBe('edited');
  });
});

describeWithRedisServer('LIF-1, LIF-4: a chat on its way from a node that leaves', { timeout: 60_000 }, () => {
  test('SUB-2: what comes while its last events are on their way to the record is not done there unseen', async () => {
    const redis = await startRedis();
    const network = await Proxy.to(redis.url, asBytes);
    const nodes = new Nodes(redis.url);
    const a = await nodes.start({ env: { REDIS_URL: network.url.replace('http', 'redis'), DRAIN_MS: '1000' } });
    const b = await nodes.start();
    const { chatId, seen } = await left(a.url);
    const here = a.as({ userId: 'local' });
    // So that the node has something to wait for, and leaves later.
    const agent = await new Agent(a.url, ['bot']).join();
    const busy = await here.call('chat:create', { assistantId: 'bot' });
    await agent.run((await here.call('turn:start', { chatId: busy.chat.chatId, input: 'go' })).turn.requestId);

    // The answer to an entry of a record is its id; from then on this node hears nothing of Redis.
    let isSilent = false;
    network.fate = (said) => ((isSilent ||= /\r\n\d{1,3}-\d+\r\n/.test(said)) ? 'hold' : 'pass');
    const first = here.call('chat:update', { chatId, title: 'first' });
    await network.holds(1);
    const drained = a.drain();
    const { held } = network;
    const second = here.call('chat:update', { chatId, title: 'second' });
    // It asks Redis where the chat is. Were it done here, it would be stored, and stand in no record.
    const isStored = async () => (await stored(nodes, `SELECT 1 FROM agent_chat WHERE title = 'second'`)) > 0;
    await until(async () => network.held > held || (await isStored()), 'what becomes of it');
    network.release();
    await first;
    await expect(second).rejects.toMatchObject({ code: 'draining' });
    await drained;
    const late = await backAt(b.url, seen, chatId);
    const { chat } = await late.do<Result<'chat:get'>>('chat:get', { chatId });
    expect(seen.view?.chat.title).toBe(chat.title);
  });
});
