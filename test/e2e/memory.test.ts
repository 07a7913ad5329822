import { queryObjects } from 'node:v8';
import { Server } from 'socket.io';
import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { createTurnstream } from '../../server/app.js';
import { readConfig } from '../../server/config.js';
import { Agent } from '../harness/agent.js';
import { heldBy, metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { isSpread } from '../harness/spread.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

describe('LIF-3: what is kept in memory', () => {
  test('nothing of a server that was closed, in the process that goes on', async () => {
    const servers = (): number => queryObjects(Server, { format: 'count' });
    const openAndClose = async (): Promise<void> => {
      const config = readConfig({ PORT: '0', DATA_DIR: temporaryDirectory(), LOG_LEVEL: 'silent' });
      const server = await createTurnstream({ config });
      await server.close();
    };
    await openAndClose();
    const before = servers();
    for (let times = 0; times < 5; times++) await openAndClose();
    await until(() => servers() <= before, 'they are let go of');
  });

  test('after every kind of end, and the retention, all gauges are back at zero', async () => {
    const { url, person, agent, chatId, turn } = await scene({
      env: { LOG_TTL_MS: '100', AGENT_GRACE_MS: '50', AGENT_WAIT_MS: '50' },
    });
    for (const status of ['completed', 'failed', 'interrupted'] as const) {
      const run = await turn();
      await run.push(
        { op: 'step.start', stepId: uid('s'), type: 'llm', input: 'x' },
        { op: 'space.set', key: 'k', value: 'v' },
      );
      await run.send('x'.repeat(10_000));
      await run.close(status);
      await person.ended(chatId, run.requestId);
    }
    const stopped = await turn();
    await person.do('turn:stop', { requestId: stopped.requestId });
    const { turn: nobody } = await person.start(chatId, 'x', { assistantId: 'nobody' });
    await person.ended(chatId, nobody.requestId);
    const deleted = await person.createChat();
    await person.follow(deleted);
    await person.start(deleted, 'word '.repeat(500));
    await person.do('chat:delete', { chatId: deleted });
    const lost = await turn();
    agent.drop();
    await person.ended(chatId, lost.requestId);
    expect(await metric(url, 'turnstream_subscriptions')).toBe(1);
    expect(await metric(url, 'turnstream_connections{namespace="people"}')).toBe(1);
    person.close();
    await until(async () => (await heldBy(url)).length === 0, 'nothing left');
    expect(await metric(url, 'turnstream_connections{namespace="people"}')).toBe(0);
    expect(await metric(url, 'turnstream_connections{namespace="agents"}')).toBe(0);
  });

  test('while somebody follows, epoch and offset live on, though the log is let go; the next event fits', async () => {
    const { url, person, chatId, view, turn } = await scene({ env: { LOG_TTL_MS: '100' } });
    const run = await turn();
    await run.close();
    await person.ended(chatId, run.requestId);
    const { position } = view;
    await until(async () => (await metric(url, 'turnstream_log_bytes')) === 0, 'the log let go');
    expect(await metric(url, 'turnstream_sessions')).toBe(1);
    const next = await turn();
    await next.close();
    await person.ended(chatId, next.requestId);
    expect(view.position?.epoch).toBe(position?.epoch);
    expect(view.position?.offset).toBeGreaterThan(position?.offset ?? 0);
  });

  test('a chat that was let go is read anew: history, sequences and idempotency are as before', async () => {
    const { url, person, chatId, turn } = await scene({ env: { LOG_TTL_MS: '100' } });
    const run = await turn();
    await run.send('kept');
    await run.close();
    await person.ended(chatId, run.requestId);
    await person.do('chat:unsubscribe', { chatId });
    await until(async () => (await metric(url, 'turnstream_sessions')) === 0, 'the chat let go');
    expect(await person.start(chatId, 'go', { requestId: run.requestId })).toMatchObject({ duplicate: true });
    const { messages } = await person.start(chatId, 'more');
    expect(messages[0]?.sequence).toBe(3);
    expect((await run.agent.refused('turn:push', { ...run.frame, seq: 9, ops: [] })).code).toBe('turn_ended');
  });

  test('a queued turn, and one that waits for its agent, keep their chat in memory though nobody follows it', async () => {
    const { url, person, agent } = await scene({ env: { LOG_TTL_MS: '100' } });
    const chatId = await person.createChat({ assistantId: 'late' });
    const waiting = (await person.start(chatId, 'x')).turn.requestId;
    const queued = (await person.start(chatId, 'y')).turn.requestId;
    await until(async () => (await metric(url, 'turnstream_log_bytes')) === 0, 'its log let go');
    const late = await new Agent(agent.url, ['late']).join();
    for (const requestId of [waiting, queued]) await (await late.run(requestId)).close();
    expect((await person.turn(queued)).status).toBe('completed');
  });

  test('LOG_MAX_EVENTS and LOG_MAX_BYTES bound what one chat keeps', async () => {
    const { url, person, chatId, turn } = await scene({ env: { LOG_MAX_EVENTS: '10', LOG_MAX_BYTES: '100000' } });
    const run = await turn();
    for (let index = 0; index < 50; index++) await run.send('x'.repeat(1000));
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(await metric(url, 'turnstream_log_bytes')).toBeLessThan(20_000);
  });

  // It is about the heap of one process.
  test.skipIf(isSpread)(
    'C33: turns of more bytes than the heap may hold, in one chat and in many: the server lives, and keeps nothing',
    async () => {
      const server = await new ServerProcess({ LOG_TTL_MS: '100', NODE_OPTIONS: '--max-old-space-size=72' }).start();
      const person = await new Person(server.url).open();
      const text = 'x'.repeat(250_000);
      const one = await person.createChat();
      for (let round = 0; round < 20; round++) {
        const chats = [one, ...(await Promise.all(Array.from({ length: 5 }, () => person.createChat())))];
        await Promise.all(
          chats.map((chatId) => person.start(chatId, text, { onBusy: 'parallel', metadata: { delayMs: 0 } })),
        );
        await until(async () => (await metric(server.url, 'turnstream_turns_active')) === 0, 'all ended');
      }
      await until(async () => (await heldBy(server.url)).length === 0, 'nothing left');
      expect(await metric(server.url, 'turnstream_turns_total{status="completed"}')).toBe(120);
    },
    60_000,
  );

  test('two hundred turns that end in the moment they begin leave nothing behind', async () => {
    const quick = defineAssistant({ assistantId: 'quick', run: () => undefined });
    const server = await startServer({ env: { LOG_TTL_MS: '100' }, assistants: [quick] });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'quick' });
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 10 }, () => person.start(chatId, 'x', { onBusy: 'parallel' })));
      await until(async () => (await metric(server.url, 'turnstream_turns_active')) === 0, 'all ended');
    }
    await until(async () => (await heldBy(server.url)).length === 0, 'nothing left');
  });
});
