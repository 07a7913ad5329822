// Says something in a new chat and prints the answer as it streams:
//
//     npx tsx examples/node-client.ts "hello there"
import { createChatClient, type Turn } from 'turnstream/client';

const client = createChatClient({ url: process.env['TURNSTREAM_URL'] ?? 'http://127.0.0.1:3000' });
const chat = client.chat(client.newId());
const requestId = client.newId();

/** Prints what the answer has grown by; resolves when its turn has ended. */
const ended = new Promise<Turn>((resolve) => {
  let shown = 0;
  chat.view.subscribe(() => {
    const { messages, turns } = chat.view.getSnapshot();
    const answer = messages.find((message) => message.requestId === requestId && message.role === 'assistant');
    const text = answer?.props['content'];
    if (typeof text === 'string') {
      process.stdout.write(text.slice(shown));
      shown = text.length;
    }
    const turn = turns.get(requestId);
    if (turn && turn.endedAt !== null) resolve(turn);
  });
});

const question = process.argv[2] ?? 'Hello from Node';
await chat.start(question, { requestId, createChat: true, assistantId: 'echo' });
const { status } = await ended;
console.log(`\n(${status})`);
client.close();
