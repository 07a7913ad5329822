import { expect, test } from 'vitest';
import { Nodes } from '../harness/nodes.js';
import { clientOf, endOf, opened } from '../harness/sdk.js';
import { describeOnPostgres } from '../harness/services.js';

describeOnPostgres('LIF-4: Redis loses one key', { timeout: 60_000 }, () => {
  test('DAT-4: of a chat whose lease is lost another node takes it: who follows at the node before sees what happens there', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.start(), await nodes.start()];
    const ann = clientOf(a.url);
    const { chatId } = (await ann.call('chat:create', { assistantId: 'echo' })).chat;
    const near = await opened(ann, chatId);
    await nodes.redis('DEL', `owner:${chatId}`);
    const bob = clientOf(b.url);
    const far = await opened(bob, chatId);
    const { requestId } = (await far.start('one')).turn;
    expect((await endOf(far, requestId)).status).toBe('completed');
    expect((await endOf(near, requestId)).status).toBe('completed');
  });
});
