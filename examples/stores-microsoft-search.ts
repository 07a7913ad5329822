// The vector store sample of the Agent Framework's tutorial, with a chat in place of the collection: the newest ten
// messages in the order of the chat (not of clocks), a key that is made with the first message, and a search by words:
//
//     npx tsx examples/stores-microsoft-search.ts
import { createChatClient } from 'turnstream/client';
import { chatMessageStoreFactory, textMessage, textOf, type ChatMessage } from 'turnstream/stores/microsoft';

const chats = createChatClient({ url: process.env['TURNSTREAM_URL'] ?? 'http://127.0.0.1:3000' });
const storeOf = chatMessageStoreFactory({ chats, maxMessages: 10 });

const show = (messages: readonly ChatMessage[]): void => {
  for (const message of messages) console.log(`${message.role}: ${textOf(message)}`);
};

const store = storeOf();
console.log(`key before the first message: ${store.serialize()}`);
for (const animal of ['cat', 'dog', 'owl', 'fox', 'bee', 'hen'])
  await store.addMessages([
    // No ids: no message takes the place of another one.
    textMessage('user', `Tell me about a ${animal}`),
    textMessage('assistant', `The ${animal} says hello`),
  ]);

const resumed = storeOf({ serializedState: store.serialize() });
show(await resumed.getMessages());
console.log('--- cat');
show(await resumed.search('CAT hello'));
chats.close();
