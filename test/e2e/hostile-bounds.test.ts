import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** A server of its own whose one turn has an open message when it is killed. */
async function killedMidTurn(texts: readonly string[]) {
  const server = await new ServerProcess().start();
  const agent = await new Agent(server.url, ['bot']).join();
  const person = await new Person(server.url).open();
  const chatId = await person.createChat({ assistantId: 'bot' });
  const view = await person.follow(chatId);
  const requestId = uid('r');
  await person.start(chatId, 'x', { requestId });
  const run = await agent.run(requestId);
  const messageId = await run.send('');
  let sent = '';
  for (const text of texts) {
    await run.append(messageId, text);
    sent += text;
    await until(() => view.text(requestId) === sent, 'the text, seen and so journaled');
  }
  await server.kill();
  return { server, person, chatId, requestId };
}

/** What stands after the restart. */
async function restarted({ server, person, chatId, requestId }: Awaited<ReturnType<typeof killedMidTurn>>, env = {}) {
  await server.start(env);
  await person.open();
  const view = await person.follow(chatId, { fresh: true });
  expect((await person.turn(requestId)).stopReason).toBe('crashed');
  return view.text(requestId);
}

test.each([
  ['append', (messageId: string, path: string) => ({ op: 'append' as const, messageId, path, text: 'a' })],
  ['set', (messageId: string, path: string) => ({ op: 'set' as const, messageId, path, value: 1 })],
  ['merge', (messageId: string, path: string) => ({ op: 'merge' as const, messageId, path, value: 1 })],
])('DAT-3: the keys that %s makes count as the message', async (_op, opAt) => {
  const here = await scene({ env: { MAX_MESSAGE_BYTES: '20000' } });
  const run = await here.turn();
  const messageId = await run.send('');
  for (let index = 0; index < 4; index++) await run.push(opAt(messageId, `${'k'.repeat(4000)}${index}`));
  const refusal = await run.agent.refused('turn:push', {
    ...run.frame,
    seq: run.seq + 1,
    ops: [opAt(messageId, 'k'.repeat(4000))],
  });
  expect(refusal).toMatchObject({ code: 'payload_too_large', details: { limit: 'maxMessageBytes' } });
});

test('DAT-3: writing to one place again and again takes no more than it holds', async () => {
  const here = await scene({ env: { MAX_MESSAGE_BYTES: '2000' } });
  const run = await here.turn();
  const messageId = await run.send('');
  for (let round = 0; round < 500; round++) await run.push({ op: 'set', messageId, path: 'progress', value: round });
  expect(await metric(here.url, 'turnstream_buffer_bytes')).toBeLessThan(1000);
});

test('LIF-2: bounds that were lowered keep no server from starting, and nobody from what they saw', async () => {
  const text = 'x'.repeat(100_000);
  expect(await restarted(await killedMidTurn([text]), { MAX_MESSAGE_BYTES: '10000' })).toBe(text);
});

test('LIF-2: a hole in the journal keeps no server from starting: what was before it stands', async () => {
  const killed = await killedMidTurn(['one ', 'two ', 'three ']);
  const directory = join(killed.server.dataDir, 'journal');
  for (const name of readdirSync(directory)) {
    const lines = readFileSync(join(directory, name), 'utf8').split('\n');
    writeFileSync(join(directory, name), lines.filter((line) => !line.includes('"two ')).join('\n'));
  }
  expect(await restarted(killed)).toBe('one ');
});

test('CON-4: leaving and joining a namespace on one connection leaves nothing behind', async () => {
  const server = await new ServerProcess().start();
  const raw = await RawSocket.open(server.url, { userId: 'restless' });
  for (let round = 0; round < 30; round++) {
    raw.packets.length = 0;
    raw.send('40/agents,{"userId":"restless","roles":["agent"]}');
    await raw.packet((packet) => packet.startsWith('2/agents,["hello"'), 'hello');
    raw.send('41/agents,');
    await until(
      async () => (await metric(server.url, 'turnstream_connections{namespace="agents"}')) === 0,
      'the namespace left',
    );
  }
  expect(server.output).not.toContain('MaxListenersExceededWarning');
});

test('AGT-5: thousands of turns that wait for a full agent cost the others nothing', async () => {
  const server = await new ServerProcess().start();
  const agent = await new Agent(server.url, ['bot'], { concurrency: 500 }).join();
  const person = await new Person(server.url).open();
  const start = () => person.start(uid('c'), 'x', { createChat: true, assistantId: 'bot' });
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 200 }, start));
  await until(() => agent.runs.length === 500, 'as many as fit');
  const began = performance.now();
  await Promise.all(agent.runs.slice(0, 100).map((run) => run.close()));
  await until(() => agent.runs.length === 600, 'those that waited');
  expect(performance.now() - began).toBeLessThan(5000);
});

test('LIF-3: the buffers of turns that have ended and are stored are given up', async () => {
  const server = await new ServerProcess({ NODE_OPTIONS: '--max-old-space-size=140' }).start();
  const agent = await new Agent(server.url, ['bot']).join();
  const person = await new Person(server.url).open();
  for (let round = 0; round < 45; round++) {
    const chatId = await person.createChat({ assistantId: 'bot' });
    const { turn } = await person.start(chatId, 'x');
    const run = await agent.run(turn.requestId);
    for (let index = 0; index < 4; index++) await run.send('x'.repeat(1_000_000));
    await run.close();
  }
  expect(server.output).not.toContain('heap');
}, 90_000);

test('DAT-3: what calls are answered counts as the turn', async () => {
  const here = await scene({ env: { MAX_TURN_BYTES: '13000' } });
  const run = await here.turn();
  const output = 'x'.repeat(4000);
  const call = async () => {
    const before = here.agent.runs.length;
    const answer = run.delegate('bot', 'x');
    answer.catch(() => undefined);
    await until(() => here.agent.runs.length > before, 'the call');
    return { child: here.agent.runs.at(-1) as typeof run, answer };
  };
  for (let round = 0; round < 2; round++) {
    const { child, answer } = await call();
    await child.close('completed', { output });
    expect((await answer).output).toBe(output);
  }
  const { child, answer } = await call();
  const refusal = await here.agent.refused('turn:close', { ...child.frame, seq: 1, status: 'completed', output });
  expect(refusal).toMatchObject({ code: 'payload_too_large', details: { limit: 'maxTurnBytes' } });
  await child.close('failed');
  expect((await answer).status).toBe('failed');
});
