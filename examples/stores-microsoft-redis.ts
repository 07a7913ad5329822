// The Redis sample of the Agent Framework's tutorial, with a chat in place of the list: messages are pushed, the newest four
// stay, a state that holds no secret brings the thread back, and at last it is cleared. Whoever follows the chat sees it all:
//
//     npx tsx examples/stores-microsoft-redis.ts
import { createChatClient } from 'turnstream/client';
import {
  textMessage,
  textOf,
  threadMessageStoreFactory,
  type ThreadChatMessageStore,
} from 'turnstream/stores/microsoft';

const chats = createChatClient({ url: process.env['TURNSTREAM_URL'] ?? 'http://127.0.0.1:3000' });
const storeOf = threadMessageStoreFactory({ chats, keyPrefix: 'chat_messages', maxMessages: 4 });

/** Stands for a model; what it is given is what the store lists. */
const model = (messages: readonly unknown[]): string => `A joke for ${messages.length} messages.`;

async function ask(store: ThreadChatMessageStore, question: string): Promise<void> {
  const input = textMessage('user', question);
  const answer = model([...(await store.listMessages()), input]);
  // After the run, in one call: a run that fails leaves nothing behind.
  await store.addMessages([input, textMessage('assistant', answer, { authorName: 'Joker' })]);
}

const show = async (store: ThreadChatMessageStore): Promise<void> => {
  for (const message of await store.listMessages()) console.log(`${message.role}: ${textOf(message)}`);
};

const store = storeOf();
for (const subject of ['pirates', 'cats', 'ghosts']) await ask(store, `Tell me a joke about ${subject}`);
await show(store);

const state = await store.serializeState();
console.log(Object.keys(state).join(', '));
const resumed = storeOf({ serializedState: state });
await ask(resumed, 'Another one');
await show(resumed);

await resumed.clear();
console.log(`${await resumed.count()} left`);
chats.close();
