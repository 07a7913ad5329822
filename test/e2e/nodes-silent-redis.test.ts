import { expect, test } from 'vitest';
import { Nodes } from '../harness/nodes.js';
import { readyBut } from '../harness/readiness.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { clientOf, endOf, opened } from '../harness/sdk.js';

describeWithRedisServer('LIF-4: a Redis that is there and does not do what it should', { timeout: 120_000 }, () => {
  test('stopped, with its connections open: who is at the owner is answered all the same, and nobody waits until it goes on', async () => {
    const redis = await startRedis();
    const nodes = new Nodes(redis.url);
    const { url } = await nodes.start();
    const client = clientOf(url);
    const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
    const chat = await opened(client, chatId);

    redis.pause();
    const { requestId } = (await chat.start('is anybody there?')).turn;
    expect((await endOf(chat, requestId)).status).toBe('completed');
    await readyBut(url, 'log');
    const askedAt = performance.now();
    expect((await fetch(`${url}/v1/chats/${chatId}`)).status).toBe(200);
    const again = (await chat.start('and now?')).turn;
    expect((await endOf(chat, again.requestId)).status).toBe('completed');
    expect(performance.now() - askedAt).toBeLessThan(2_000);

    redis.resume();
    await readyBut(url);
    const other = clientOf((await nodes.start()).url);
    const elsewhere = await opened(other, chatId);
    const last = (await elsewhere.start('and elsewhere?')).turn;
    for (const each of [chat, elsewhere]) expect((await endOf(each, last.requestId)).status).toBe('completed');
  });
});
