import { describe, expect, test } from 'vitest';
import type { Run } from '../harness/agent.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

const IMPATIENT = { COMMIT_RETRY_MS: '150' };
const unsavedBytes = (url: string) => metric(url, 'turnstream_unsaved_bytes');
const persisted = ({ view }: Scene, requestId: string) =>
  until(
    () => view.events.find((event) => event.type === 'turn.persisted' && event.requestId === requestId),
    `turn.persisted of ${requestId}`,
  );

/** A turn that ended while nothing could be stored. */
async function unsaved(here: Scene, text = 'precious', run?: Run) {
  const held = run ?? (await here.turn());
  const messageId = await held.send(text);
  const lock = await storeBeside(here.server.dataDir).lock();
  const closing = held.close();
  const end = await here.person.ended(here.chatId, held.requestId, held.attempt);
  return { run: held, messageId, lock, closing, end };
}

describe('TRN-7: write 2 fails', () => {
  test('C04: for a while: it is tried again, the text is readable, and the end waits for the store', async () => {
    const here = await scene({ env: { COMMIT_RETRY_MS: '20000' } });
    const run = await here.turn();
    await run.send('precious');
    const lock = await storeBeside(here.server.dataDir).lock();
    const closing = run.close();
    await until(() => here.view.messages.at(-1)?.state === 'closed', 'the message closed');
    expect((await httpHistory(here.url, here.chatId)).map(({ props }) => props['content'])).toEqual(['go', 'precious']);
    expect((await here.person.turn(run.requestId)).status).toBe('running'); // SUB-1: as of before its turn.ended
    expect(here.view.ends(run.requestId)).toHaveLength(0);
    await lock.release();
    expect(await closing).toMatchObject({ persisted: true, turn: { status: 'completed' } });
    expect(await here.person.ended(here.chatId, run.requestId)).toMatchObject({ persisted: true });
    expect(here.view.events.some(({ type }) => type === 'turn.persisted')).toBe(false);
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('C04: for longer than commitRetryMs: persisted false, everything readable, then turn.persisted, once', async () => {
    const here = await scene({ env: IMPATIENT });
    const { run, lock, closing, end } = await unsaved(here);
    expect(end).toMatchObject({ persisted: false, turn: { status: 'completed' } });
    expect(await closing).toMatchObject({ persisted: false });
    expect(await unsavedBytes(here.url)).toBeGreaterThan(0);
    const meanwhile = await expectConsistent(here.url, here.chatId, [here.person]);
    expect(meanwhile.map(({ props }) => props['content'])).toEqual(['go', 'precious']);
    expect((await here.person.turn(run.requestId)).status).toBe('completed');
    expect(await here.person.start(here.chatId, 'go', { requestId: run.requestId })).toMatchObject({
      duplicate: true,
      turn: { status: 'completed' },
    });
    expect((await here.person.refused('turn:start', { chatId: here.chatId, regenerate: run.requestId })).code).toBe(
      'storage_unavailable',
    );
    await lock.release();
    await persisted(here, run.requestId);
    expect(here.view.ends(run.requestId)).toHaveLength(1);
    expect(await unsavedBytes(here.url)).toBe(0);
    expect(await storeBeside(here.server.dataDir).rows('SELECT status FROM agent_turn')).toEqual([
      { status: 'completed' },
    ]);
    expect(await expectConsistent(here.url, here.chatId, [here.person])).toEqual(meanwhile);
    expect(here.view.events.filter(({ type }) => type === 'turn.persisted')).toHaveLength(1);
  });

  test('resuming it is storage_unavailable until it is stored', async () => {
    const here = await scene({ env: IMPATIENT });
    const run = await here.turn();
    await run.send('half');
    const lock = await storeBeside(here.server.dataDir).lock();
    await here.person.do('turn:stop', { requestId: run.requestId });
    for (const which of [
      { requestId: run.requestId },
      { chatId: here.chatId },
      { requestId: run.requestId, attempt: 2 },
    ]) {
      expect(await here.person.refused('turn:resume', which)).toMatchObject({
        code: 'storage_unavailable',
        retryable: true,
      });
    }
    await lock.release();
    await persisted(here, run.requestId);
    await here.person.do('turn:resume', { requestId: run.requestId, attempt: 2 });
    const next = await here.agent.run(run.requestId, 2);
    await next.send('whole');
    await next.close();
    await here.person.ended(here.chatId, run.requestId, 2);
    expect((await expectConsistent(here.url, here.chatId, [here.person])).map(({ props }) => props['content'])).toEqual(
      ['go', 'whole'],
    );
  });

  test('a queued turn that is stopped meanwhile, and a resume that ends unsaved: the same', async () => {
    const here = await scene({ env: IMPATIENT });
    const run = await here.turn();
    await run.close('failed', { error: 'x' });
    await here.person.ended(here.chatId, run.requestId);
    await here.person.do('turn:resume', { requestId: run.requestId });
    const queued = (await here.person.start(here.chatId, 'q')).turn.requestId;
    const again = await here.agent.run(run.requestId, 2);
    const { lock } = await unsaved(here, 'second', again);
    // It waits for its time no more once the first is over: stopped before, or running.
    await here.person.do('turn:stop', { requestId: queued });
    expect((await here.person.ended(here.chatId, queued)).persisted).toBe(false);
    await lock.release();
    await Promise.all([persisted(here, run.requestId), persisted(here, queued)]);
    expect(await storeBeside(here.server.dataDir).rows('SELECT status, attempt FROM agent_turn ORDER BY id')).toEqual([
      { status: 'completed', attempt: 2 },
      { status: 'interrupted', attempt: 1 },
    ]);
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('what is edited or deleted meanwhile is stored as it is then', async () => {
    const here = await scene({ env: IMPATIENT });
    const run = await here.turn();
    const gone = await run.send('gone');
    const { messageId, lock } = await unsaved(here, 'typo', run);
    await here.person.do('message:update', { messageId, props: { content: 'mended' } });
    await here.person.do('message:delete', { chatId: here.chatId, messageIds: [gone] });
    expect((await expectConsistent(here.url, here.chatId, [here.person])).map(({ props }) => props['content'])).toEqual(
      ['go', 'mended'],
    );
    await lock.release();
    await persisted(here, run.requestId);
    expect((await expectConsistent(here.url, here.chatId, [here.person])).map(({ props }) => props['content'])).toEqual(
      ['go', 'mended'],
    );
    const stored = await storeBeside(here.server.dataDir).rows(
      "SELECT props FROM agent_message WHERE role = 'assistant' AND deleted_at IS NULL",
    );
    expect(stored).toEqual([{ props: { content: 'mended' } }]);
  });

  test('above maxUnsavedBytes starts and resumes are refused and every queue pauses; all go on once it is stored', async () => {
    const here = await scene({ env: { ...IMPATIENT, MAX_UNSAVED_BYTES: '1000' } });
    const { person, agent, url, server } = here;
    const chats = [here.chatId];
    for (let index = 0; index < 3; index++) chats.push(await person.createChat({ assistantId: 'bot' }));
    for (const chatId of chats.slice(1)) await person.follow(chatId);
    const runs: Run[] = [];
    const queued: string[] = [];
    for (const chatId of chats) {
      runs.push(await agent.run((await person.start(chatId, 'go')).turn.requestId));
      queued.push((await person.start(chatId, 'next')).turn.requestId);
    }
    for (const run of runs) await run.send('x'.repeat(2000));
    const lock = await storeBeside(server.dataDir).lock();
    for (const run of runs) void run.close();
    for (const [index, run] of runs.entries())
      expect((await person.ended(chats[index] as string, run.requestId)).persisted).toBe(false);
    for (const requestId of queued) expect((await person.turn(requestId)).status).toBe('queued');
    const elsewhere = uid('c');
    expect(
      (await person.refused('turn:start', { chatId: elsewhere, input: 'x', createChat: true, assistantId: 'echo' }))
        .code,
    ).toBe('storage_unavailable');
    expect(await person.start(here.chatId, 'next', { requestId: queued[0] as string })).toMatchObject({
      duplicate: true,
    });
    await lock.release();
    const began = performance.now();
    for (const requestId of queued) await (await agent.run(requestId)).close();
    expect(performance.now() - began).toBeLessThan(8000);
    for (const [index, requestId] of queued.entries()) await person.ended(chats[index] as string, requestId);
    expect(await unsavedBytes(url)).toBe(0);
    await person.start(elsewhere, 'x', { createChat: true, assistantId: 'echo' });
    for (const chatId of chats) await expectConsistent(url, chatId, [person]);
  });

  test('C45: two turns end, every client leaves, and who joins before they are stored sees both', async () => {
    const here = await scene({ env: { ...IMPATIENT, LOG_TTL_MS: '100' } });
    const first = await here.turn({ onBusy: 'parallel' });
    const second = await here.turn({ onBusy: 'parallel' });
    await first.send('one');
    await second.send('two');
    const lock = await storeBeside(here.server.dataDir).lock();
    const closing = Promise.all([first.close(), second.close()]);
    await closing;
    here.person.close();
    const late = await new Person(here.url).open();
    const { events } = await late.follow(here.chatId);
    expect(late.chats.get(here.chatId)?.messages.map(({ props }) => props['content'])).toEqual([
      'go',
      'go',
      'one',
      'two',
    ]);
    await lock.release();
    await until(() => events.filter(({ type }) => type === 'turn.persisted').length === 2, 'both stored');
    expect((await expectConsistent(here.url, here.chatId, [late])).length).toBe(4);
  });

  test('C44: as soon as the store answers again, so does the server', async () => {
    const here = await scene({ env: IMPATIENT });
    const lock = await storeBeside(here.server.dataDir).lock();
    expect((await here.person.refused('turn:start', { chatId: here.chatId, input: 'x' })).code).toBe(
      'storage_unavailable',
    );
    expect((await here.person.refused('chat:create', { assistantId: 'echo' })).code).toBe('storage_unavailable');
    expect(await httpHistory(here.url, here.chatId)).toEqual([]);
    await lock.release();
    const began = performance.now();
    const run = await here.turn();
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
