import { expect, test } from 'vitest';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { uid } from '../harness/peer.js';

test('C31, ACC-4: whoever lost the right while away gets nothing of the chat, neither missed nor new', async () => {
  const server = await startServer();
  const owner = await new Person(server.url, { userId: uid('owner'), teamId: 'team' }).open();
  const mate = await new Person(server.url, { userId: uid('mate'), teamId: 'team' }).open();
  const chatId = await owner.createChat({ share: 'team' });
  await owner.follow(chatId);
  const { position } = await mate.follow(chatId);
  mate.drop();
  await owner.do('chat:update', { chatId, share: 'private' });
  const { turn } = await owner.start(chatId, 'for me alone', { metadata: { delayMs: 0 } });
  await owner.ended(chatId, turn.requestId);
  await mate.open();
  expect((await mate.refused('chat:subscribe', { chatId, position })).code).toBe('not_found');
  const seen = mate.chats.get(chatId)?.events.map(({ type }) => type) ?? [];
  expect(seen.filter((type) => type.startsWith('message.'))).toEqual([]);
  // What the server has sent by now has arrived: commands of one connection are answered in order.
  await mate.do('chat:list', {});
  expect(mate.chats.get(chatId)?.events.length).toBe(seen.length);
});
