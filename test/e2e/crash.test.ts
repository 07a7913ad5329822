import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isEnded, type Result } from '../../protocol/index.js';
import { openFileJournal } from '../../server/adapters/file-journal.js';
import { systemClock } from '../../server/clock.js';
import { createLog } from '../../server/log.js';
import { attemptKey } from '../../server/ports/journal.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

const LONG = 'word '.repeat(2000);
const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);

async function begin(env: Record<string, string> = {}) {
  const server = await new ServerProcess(env).start();
  const person = await new Person(server.url).open();
  return { server, person };
}

/** Kills the server, and starts it again. */
async function crash(server: ServerProcess, more: Record<string, string> = {}): Promise<void> {
  await server.kill();
  await server.start(more);
}

/** Every restart is a process of its own, which takes its time on a busy machine. */
describe('LIF-2: kill -9', { timeout: 60_000 }, () => {
  test('C08: in the middle of several streams: every word that a client saw is stored; interrupted, crashed, resumable', async () => {
    const { server, person } = await begin({ COALESCE_MS: '5' });
    const other = await new Person(server.url).open();
    const chats = await Promise.all(Array.from({ length: 6 }, () => person.createChat()));
    for (const viewer of [person, other]) for (const chatId of chats) await viewer.follow(chatId);
    const ids: string[] = [];
    for (const chatId of chats)
      ids.push((await person.start(chatId, LONG, { metadata: { delayMs: 1 } })).turn.requestId);
    await until(
      () => chats.every((chatId, index) => (person.chats.get(chatId)?.text(ids[index] as string).length ?? 0) > 100),
      'words everywhere',
    );
    await server.kill();
    for (const viewer of [person, other]) await until(() => viewer.disconnectReason, 'the cut');
    await server.start();
    for (const [index, chatId] of chats.entries()) {
      const requestId = ids[index] as string;
      const seen = [person, other].map((viewer) => viewer.chats.get(chatId)?.text(requestId) ?? '');
      const [question, answer] = await expectConsistent(server.url, chatId);
      for (const text of seen) expect((answer?.props['content'] as string).startsWith(text)).toBe(true);
      expect([question?.sequence, answer?.sequence, answer?.state]).toEqual([1, 2, 'closed']);
    }
    await person.open();
    for (const [index, chatId] of chats.entries()) {
      expect(await person.turn(ids[index] as string)).toMatchObject({
        status: 'interrupted',
        stopReason: 'crashed',
        attempt: 1,
      });
      // Whoever comes back learns of it; a stop finds it ended; the chat takes input.
      const view = await person.follow(chatId, { fresh: true });
      expect(view.view?.turns.get(ids[index] as string)?.status).toBe('interrupted');
      expect((await person.do('turn:stop', { requestId: ids[index] })).turn.stopReason).toBe('crashed');
    }
    const [chatId, requestId] = [chats[0] as string, ids[0] as string];
    await person.do('turn:resume', { requestId, attempt: 2 });
    await until(
      () => person.chats.get(chatId)?.events.some((event) => event.type === 'message.deleted'),
      'the old answer replaced',
    );
    await person.do('turn:stop', { requestId });
    const { turn } = await person.start(chatId, 'new', { metadata: { delayMs: 0 } });
    expect((await person.ended(chatId, turn.requestId)).turn.status).toBe('completed');
    const history = await expectConsistent(server.url, chatId, [person]);
    expect(history.at(-1)?.sequence).toBeGreaterThan(3);
    expect(new Set(history.map(({ sequence }) => sequence)).size).toBe(history.length);
  });

  test('sequences go on: a number that anybody saw is never given again, also of a message deleted before the crash', async () => {
    const { server, person } = await begin();
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    const view = await person.follow(chatId);
    const run = await agent.run((await person.start(chatId, 'go')).turn.requestId);
    await run.send('two');
    const third = await run.send('three');
    await until(() => view.messages.at(-1)?.sequence === 3, 'the third');
    await person.do('message:delete', { chatId, messageIds: [third] });
    await until(() => view.messages.length === 2, 'it is gone');
    await crash(server);
    await person.open();
    const again = await person.follow(chatId, { fresh: true });
    expect(contents(again.messages)).toEqual(['go', 'two']);
    const { messages } = await person.start(chatId, 'next', { assistantId: 'echo' });
    expect(messages[0]?.sequence).toBe(4);
  });

  test('queued turns are queued again, and run; the one that ran does not run again', async () => {
    const { server, person } = await begin();
    const chatId = await person.createChat();
    const view = await person.follow(chatId);
    const running = (await person.start(chatId, LONG)).turn.requestId;
    const queued: string[] = [];
    for (const input of ['one', 'two'])
      queued.push((await person.start(chatId, input, { metadata: { delayMs: 0 } })).turn.requestId);
    await until(() => view.text(running).length > 20, 'some words');
    await crash(server);
    await person.open();
    await until(async () => (await person.turn(queued[1] as string)).status === 'completed', 'both answered');
    expect(await person.turn(running)).toMatchObject({ status: 'interrupted', attempt: 1 });
    const { turns } = await person.do<Result<'turn:list'>>('turn:list', { chatId });
    expect(turns.map(({ requestId, status }) => [requestId, status])).toEqual([
      [queued[1], 'completed'],
      [queued[0], 'completed'],
      [running, 'interrupted'],
    ]);
    const history = await expectConsistent(server.url, chatId);
    expect(history.filter(({ role }) => role === 'user')).toHaveLength(3);
    expect(history).toHaveLength(6);
    const list = await person.do<Result<'chat:list'>>('chat:list', {});
    expect(list.data[0]).toEqual((await person.do<Result<'chat:get'>>('chat:get', { chatId })).chat);
  });

  test('steps, edits, replacements and superseding are as they were seen', async () => {
    const { server, person } = await begin();
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const first = await agent.run((await person.start(chatId, 'go')).turn.requestId);
    const stepId = uid('s');
    await first.push(
      { op: 'space.set', key: 'k', value: 1 },
      { op: 'step.start', stepId, type: 'llm', input: 'in' },
      { op: 'send', type: 'text', props: { content: 'old' } },
    );
    await first.close('failed');
    await person.ended(chatId, first.requestId);
    await person.do('turn:resume', { requestId: first.requestId });
    const run = await agent.run(first.requestId, 2);
    await run.push({ op: 'step.start', stepId, type: 'llm' });
    const messageId = await run.send('', { type: 'thing', props: { rows: [], content: 'x' } });
    const closed = await run.send('typo');
    await run.push(
      { op: 'append', messageId, text: 'y😀' },
      { op: 'set', messageId, path: 'rows.0', value: { a: 1 } },
      { op: 'merge', messageId, path: 'rows.0', value: { b: null } },
      { op: 'end', messageId: closed },
    );
    await until(() => person.chats.get(chatId)?.messages.at(-1)?.state === 'closed', 'the second closed');
    await person.do('message:update', { messageId: closed, props: { content: 'mended' }, metadata: { by: 'me' } });
    const seen = await httpHistory(server.url, chatId);
    await crash(server);
    const after = await expectConsistent(server.url, chatId);
    const without = (list: typeof seen) => list.map(({ updatedAt: _, state: __, ...rest }) => rest);
    expect(without(after)).toEqual(without(seen));
    await person.open();
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps).toEqual([
      expect.objectContaining({ stepId, status: 'interrupted', input: 'in', spaceSnapshot: { k: 1 } }),
    ]);
    expect(await person.turn(run.requestId)).toMatchObject({
      attempt: 2,
      status: 'interrupted',
      stopReason: 'crashed',
    });
    await person.do('turn:resume', { requestId: run.requestId });
    const returned = await new Agent(server.url, ['bot']).join();
    const third = await returned.run(run.requestId, 3);
    expect(third.assignment?.resume?.steps.map((step) => step.stepId)).toEqual([stepId]);
    expect(third.assignment?.space).toEqual({ k: 1 });
    expect(contents(third.assignment?.resume?.messages ?? [])).toEqual(['xy😀', 'mended']);
  });

  test('an agent that comes back after the crash holds nothing; what it still sends is turn_ended', async () => {
    const { server, person } = await begin();
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const run = await agent.run((await person.start(chatId, 'go')).turn.requestId);
    await run.send('x');
    const opened = await agent.openTurn({ chatId });
    await opened.send('y');
    await crash(server);
    await agent.open();
    expect((await agent.attach()).assigned).toEqual([]);
    for (const frame of [run, opened])
      expect((await agent.refused('turn:push', { ...frame.frame, seq: 2, ops: [] })).code).toBe('turn_ended');
    expect((await run.aborted()).reason).toBe('turn_ended');
    await person.open();
    for (const { requestId } of [run, opened])
      expect(await person.turn(requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
  });

  test('C04: in the unsaved state: the status it ended with is kept, and all its text', async () => {
    const { server, person } = await begin({ COMMIT_RETRY_MS: '100' });
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const ends = [
      { status: 'completed', stopReason: null, usage: { tokens: 7 } },
      { status: 'failed', stopReason: 'error', error: { code: 'mine', message: 'because' } },
      { status: 'interrupted', stopReason: 'stopped' },
    ] as const;
    const runs = [];
    for (const [index] of ends.entries()) {
      const run = await agent.run((await person.start(chatId, `q${index}`, { onBusy: 'parallel' })).turn.requestId);
      await run.send(`a${index}`);
      runs.push(run);
    }
    const never = (await person.start(chatId, 'never begun', { assistantId: 'nobody' })).turn.requestId;
    const lock = await storeBeside(server.dataDir).lock();
    for (const [index, { status, ...more }] of ends.entries()) runs[index]?.close(status, more).catch(() => undefined); // its answer dies with the server
    await person.do('turn:stop', { requestId: never });
    for (const { requestId } of runs) expect((await person.ended(chatId, requestId)).persisted).toBe(false);
    await server.kill();
    await lock.release();
    await server.start();
    await person.open();
    for (const [index, end] of ends.entries())
      expect(await person.turn(runs[index]?.requestId as string)).toMatchObject(end);
    expect(await person.turn(never)).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    expect(contents(await expectConsistent(server.url, chatId))).toEqual([
      'q0',
      'a0',
      'q1',
      'a1',
      'q2',
      'a2',
      'never begun',
    ]);
  });

  test('C04: a store that takes no end at the next start either: the server serves, and what was unsaved stays so until it is stored', async () => {
    const { server, person } = await begin({ COMMIT_RETRY_MS: '100' });
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const run = await agent.run((await person.start(chatId, 'q')).turn.requestId);
    await run.send('a');
    await until(() => person.chats.get(chatId)?.text(run.requestId) === 'a', 'the answer');
    const refusal = await storeBeside(server.dataDir).refuseUpdates('agent_turn');
    await crash(server);
    await person.open();
    expect(contents((await person.follow(chatId, { fresh: true })).messages)).toEqual(['q', 'a']);
    expect(await person.turn(run.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    expect((await person.refused('turn:resume', { requestId: run.requestId })).code).toBe('storage_unavailable');
    await crash(server);
    await person.open();
    await person.follow(chatId, { fresh: true });
    expect(await person.turn(run.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
    await refusal.release();
    await until(() => person.chats.get(chatId)?.events.some(({ type }) => type === 'turn.persisted'), 'turn.persisted');
    expect(contents(await expectConsistent(server.url, chatId, [person]))).toEqual(['q', 'a']);
  });

  test('C21: an end that is stored but not forgotten by the journal stays as it is', async () => {
    const { server, person } = await begin();
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const run = await agent.run((await person.start(chatId, 'q')).turn.requestId);
    await run.send('a');
    await until(() => person.chats.get(chatId)?.text(run.requestId) === 'a', 'the answer');
    const journal = join(server.dataDir, 'journal');
    const kept = join(server.dataDir, 'kept');
    mkdirSync(kept);
    const copy = (from: string, to: string): void =>
      readdirSync(from).forEach((name) => copyFileSync(join(from, name), join(to, name)));
    copy(journal, kept);
    await run.close('completed', { usage: 1 });
    const { turn } = await person.ended(chatId, run.requestId);
    const history = await httpHistory(server.url, chatId);
    await server.kill();
    copy(kept, journal);
    await server.start();
    await person.open();
    expect(await person.turn(run.requestId)).toEqual(turn);
    expect(await expectConsistent(server.url, chatId)).toEqual(history);
    // And the same beneath a later attempt, which the older record must not touch.
    expect(await storeBeside(server.dataDir).rows('SELECT count(*) AS n FROM agent_message')).toEqual([{ n: 2 }]);
  });

  test('C21: killed at any moment around the end: completed or interrupted, never in between, nothing twice', async () => {
    const { server, person } = await begin();
    for (let round = 0; round < 3; round++) {
      const chatId = await person.createChat();
      const view = await person.follow(chatId);
      const { turn } = await person.start(chatId, 'just a few words', { metadata: { delayMs: 0 } });
      await until(
        () => view.text(turn.requestId).length >= round * 5 || view.ends(turn.requestId).length > 0,
        'some text',
      );
      await server.kill();
      await until(() => person.disconnectReason, 'the cut');
      await server.start();
      await person.open();
      // One that had not begun is queued again, and runs.
      const now = await until(async () => {
        const read = await person.turn(turn.requestId);
        return isEnded(read.status) ? read : null;
      }, 'its end');
      expect(['completed', 'interrupted']).toContain(now.status);
      if (view.ends(turn.requestId).length > 0) expect(now.status).toBe('completed');
      const history = await expectConsistent(server.url, chatId);
      expect((history[1]?.props['content'] as string | undefined) ?? '').toMatch(
        new RegExp(`^${view.text(turn.requestId)}`),
      );
      expect(history.length).toBeLessThanOrEqual(2);
      const again = await person.start(chatId, 'just a few words', {
        requestId: turn.requestId,
        metadata: { delayMs: 0 },
      });
      expect(again).toMatchObject({ duplicate: true, turn: now });
    }
  });

  test('DAT-4: what people did to messages while their turn was being stored is there after a crash, unless it was changed again', async () => {
    const { server, person } = await begin();
    const agent = await new Agent(server.url, ['bot']).join();
    const chatId = await person.createChat({ assistantId: 'bot' });
    const { requestId } = (await person.start(chatId, 'go')).turn;
    const run = await agent.run(requestId);
    const [edited, deleted, later] = [await run.send('as it was'), await run.send('unwanted'), await run.send('first')];
    await run.close();
    const turn = await person.turn(requestId);
    const { messages } = await person.do('message:list', { chatId });
    const row = (messageId: string) => messages.find((message) => message.messageId === messageId);
    const change = (messageId: string, content: string, ms: number) => {
      const updatedAt = new Date(Date.parse(row(messageId)?.updatedAt ?? '') + ms).toISOString();
      return { type: 'message.updated', message: { ...row(messageId), props: { content }, updatedAt } };
    };
    await person.do('message:update', { messageId: later, props: { content: 'last' } });
    await server.kill();
    // As the process would have left it, had it died between the write of the end and that of the edits.
    const journal = openFileJournal({
      directory: join(server.dataDir, 'journal'),
      clock: systemClock,
      log: createLog('silent'),
    });
    const attempt = attemptKey(requestId, 1);
    for (const entry of [
      ['begin', { turn: { ...turn, status: 'queued' } }],
      ['event', change(edited, 'as it is', 5)],
      ['event', change(later, 'between', 0)],
      ['event', { type: 'message.deleted', messageIds: [deleted] }],
    ])
      journal.add(attempt, JSON.stringify(entry));
    journal.commit();
    await journal.close();
    await server.start();
    expect(contents(await expectConsistent(server.url, chatId))).toEqual(['go', 'as it is', 'last']);
  });
});
