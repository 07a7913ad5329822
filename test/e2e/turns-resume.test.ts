import { describe, expect, test } from 'vitest';
import { expectConsistent } from '../harness/consistent.js';
import { Agent, type Run } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import { storeBeside } from '../harness/store-beside.js';
import { Person } from '../harness/person.js';
import { scene, type Scene } from './scene.js';

/** A turn that failed after it had sent some text, without a step. */
async function broken(here: Scene, text = 'half'): Promise<Run> {
  const run = await here.turn();
  await run.send(text);
  await run.close('failed', { error: 'boom' });
  await here.person.ended(here.chatId, run.requestId);
  return run;
}

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);

describe('TRN-9: turn:resume', () => {
  test('starts the next attempt of the same turn; the root frame keeps its stackId; the input is not stored again', async () => {
    const here = await scene();
    const { person, chatId, agent } = here;
    const run = await broken(here);
    const answer = await person.do('turn:resume', { requestId: run.requestId });
    expect(answer).toMatchObject({
      duplicate: false,
      turn: { requestId: run.requestId, attempt: 2, stopReason: null, error: null, endedAt: null },
    });
    const next = await agent.run(run.requestId, 2);
    expect(next.stackId).toBe(run.stackId);
    expect(next.assignment?.input).toEqual(run.assignment?.input);
    await next.send('whole');
    await next.close();
    const { turn } = await person.ended(chatId, run.requestId, 2);
    expect(turn).toMatchObject({ status: 'completed', attempt: 2, error: null });
    expect(contents(await expectConsistent(here.url, chatId, [person]))).toEqual(['go', 'whole']);
    expect(await storeBeside(here.server.dataDir).rows('SELECT count(*) AS n FROM agent_turn')).toEqual([{ n: 1 }]);
  });

  test('DAT-3: a turn has its bounds however often it is resumed', async () => {
    const here = await scene({ env: { MAX_TURN_BYTES: '20000' } });
    const { person, chatId, agent } = here;
    const step = { stepId: uid('step-of-attempt'), type: 'llm' } as const;
    // A step that completed, so that what was sent beside it stands.
    const first = await here.turn();
    await first.push({ op: 'step.start', ...step }, { op: 'step.end', stepId: step.stepId, status: 'completed' });
    await first.send('y'.repeat(15_000));
    await first.close('interrupted');
    await person.ended(chatId, first.requestId);
    await person.do('turn:resume', { requestId: first.requestId });
    const second = await agent.run(first.requestId, 2);
    const refused = await agent.refused('turn:push', {
      ...{ ...second.frame, seq: second.seq + 1 },
      ops: [{ op: 'send', messageId: uid('m'), type: 'text', props: { content: 'y'.repeat(10_000) } }],
    });
    expect(refused).toMatchObject({ code: 'payload_too_large', details: { limit: 'maxTurnBytes' } });
    await second.send('short');
    await second.close();
    expect((await person.ended(chatId, first.requestId, 2)).turn.status).toBe('completed');
  });

  test('without a step: what it had sent stands until the new attempt sends its first message, then all of it goes', async () => {
    const here = await scene();
    const { person, chatId, agent, view, url } = here;
    const run = await here.turn();
    await run.send('one');
    await run.send('two');
    await run.close('failed', { error: 'boom' });
    await person.ended(chatId, run.requestId);
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    expect(next.assignment?.resume).toMatchObject({ steps: [], completedSteps: [] });
    expect(contents(next.assignment?.resume?.messages ?? [])).toEqual(['one', 'two']);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'one', 'two']);
    await next.send('three');
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'three']);
    const about = view.events.slice(-2).map(({ type }) => type);
    expect(about).toEqual(['message.deleted', 'message.created']);
    await next.close();
    await person.ended(chatId, run.requestId, 2);
    expect(
      await storeBeside(here.server.dataDir).rows(
        "SELECT count(*) AS n FROM agent_message WHERE role = 'assistant' AND deleted_at IS NULL",
      ),
    ).toEqual([{ n: 1 }]);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'three']);
  });

  test('without a step: an attempt that completes without a word replaces it; one that is stopped leaves it', async () => {
    const here = await scene();
    const { person, chatId, agent, url } = here;
    const run = await broken(here);
    await person.do('turn:resume', { requestId: run.requestId, attempt: 2 });
    await agent.run(run.requestId, 2);
    await person.do('turn:stop', { requestId: run.requestId });
    await person.ended(chatId, run.requestId, 2);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'half']);
    await person.do('turn:resume', { requestId: run.requestId, attempt: 3 });
    const third = await agent.run(run.requestId, 3);
    expect(contents(third.assignment?.resume?.messages ?? [])).toEqual(['half']);
    await third.close();
    await person.ended(chatId, run.requestId, 3);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go']);
  });

  test('superseded text that somebody deletes meanwhile is deleted once', async () => {
    const here = await scene();
    const { person, chatId, agent, view, url } = here;
    const run = await broken(here);
    const messageId = view.messages.at(-1)?.messageId as string;
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    expect(await person.do('message:delete', { chatId, messageIds: [messageId] })).toEqual({ messageIds: [messageId] });
    await next.send('new');
    await next.close();
    await person.ended(chatId, run.requestId, 2);
    const deletions = view.events.flatMap((event) => (event.type === 'message.deleted' ? event.messageIds : []));
    expect(deletions).toEqual([messageId]);
    await expectConsistent(url, chatId, [person]);
  });

  test('the newest incomplete turn, unless named', async () => {
    const here = await scene();
    const { person, chatId, agent } = here;
    const older = await broken(here);
    const newer = await broken(here);
    const fine = await here.turn();
    await fine.close();
    await person.ended(chatId, fine.requestId);
    expect((await person.do('turn:resume', { chatId })).turn.requestId).toBe(newer.requestId);
    await (await agent.run(newer.requestId, 2)).close();
    await person.ended(chatId, newer.requestId, 2);
    expect((await person.do('turn:resume', { chatId })).turn.requestId).toBe(older.requestId);
    await (await agent.run(older.requestId, 2)).close();
    await person.ended(chatId, older.requestId, 2);
    expect((await person.refused('turn:resume', { chatId })).code).toBe('turn_not_resumable');
  });

  test('attempt names the attempt to start: the next one, else bad_request; repeated it is a success', async () => {
    const here = await scene();
    const { person, chatId, agent, view } = here;
    const run = await broken(here);
    const { requestId } = run;
    for (const attempt of [1, 3, 4]) {
      expect(await person.refused('turn:resume', { requestId, attempt })).toMatchObject({
        code: 'bad_request',
        details: { expected: 2 },
      });
    }
    expect((await person.do('turn:resume', { requestId, attempt: 2 })).duplicate).toBe(false);
    expect(await person.do('turn:resume', { requestId, attempt: 2 })).toMatchObject({
      duplicate: true,
      turn: { attempt: 2 },
    });
    expect(await person.do('turn:resume', { chatId, attempt: 2 })).toMatchObject({
      duplicate: true,
      turn: { requestId },
    });
    await (await agent.run(requestId, 2)).close();
    await person.ended(chatId, requestId, 2);
    expect(await person.do('turn:resume', { requestId, attempt: 2 })).toMatchObject({
      duplicate: true,
      turn: { status: 'completed' },
    });
    expect(await person.do('turn:resume', { chatId, attempt: 2 })).toMatchObject({
      duplicate: true,
      turn: { requestId },
    });
    expect(agent.runs).toHaveLength(2);
    expect(view.ends(requestId)).toHaveLength(2);
  });

  test('a repeated resume that names no turn never resumes an older one', async () => {
    const here = await scene();
    const { person, chatId, agent } = here;
    await broken(here);
    const newer = await broken(here);
    const [first, second] = await Promise.all([1, 2].map(() => person.do('turn:resume', { chatId, attempt: 2 })));
    expect([first!.turn.requestId, second!.turn.requestId]).toEqual([newer.requestId, newer.requestId]);
    expect([first!.duplicate, second!.duplicate]).toEqual([false, true]);
    await agent.run(newer.requestId, 2);
    expect(agent.runs).toHaveLength(3);
  });

  test('a completed, queued or running turn is turn_not_resumable; an unknown one not_found', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const queued = (await person.start(chatId, 'q')).turn.requestId;
    for (const requestId of [run.requestId, queued])
      expect((await person.refused('turn:resume', { requestId })).code).toBe('turn_not_resumable');
    await run.close();
    await person.ended(chatId, run.requestId);
    expect((await person.refused('turn:resume', { requestId: run.requestId })).code).toBe('turn_not_resumable');
    expect((await person.refused('turn:resume', { requestId: 'nothing' })).code).toBe('not_found');
    expect(
      (await person.refused('turn:resume', { requestId: run.requestId, chatId: await person.createChat() })).code,
    ).toBe('not_found');
  });

  test('C34: two clients resume the same attempt in one tick, a hundred times: exactly one continuation each', async () => {
    const here = await scene();
    const { person, chatId, agent, view, url } = here;
    const other = await new Person(url).open();
    let run = await broken(here, '1');
    for (let attempt = 2; attempt <= 101; attempt++) {
      const answers = await Promise.all(
        [person, other].map((from) => from.do('turn:resume', { requestId: run.requestId, attempt })),
      );
      expect(answers.map(({ duplicate }) => duplicate).sort()).toEqual([false, true]);
      run = await agent.run(run.requestId, attempt);
      await run.send(`${attempt}`);
      await run.close(attempt === 101 ? 'completed' : 'failed');
      await person.ended(chatId, run.requestId, attempt);
    }
    expect(agent.runs).toHaveLength(101);
    expect(view.ends(run.requestId)).toHaveLength(101);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', '101']);
  });

  test('C34: the same without attempt: the second is refused, and nothing runs twice', async () => {
    const here = await scene();
    const other = await new Person(here.url).open();
    const run = await broken(here);
    const acks = await Promise.all(
      [here.person, other].map((from) => from.ask('turn:resume', { requestId: run.requestId })),
    );
    expect(acks.map((ack) => (ack.ok ? 'ok' : ack.error.code)).sort()).toEqual(['ok', 'turn_not_resumable']);
    await (await here.agent.run(run.requestId, 2)).close();
    await here.person.ended(here.chatId, run.requestId, 2);
    expect(here.agent.runs).toHaveLength(2);
  });

  test('in the foreground queue if it was a foreground turn, else in the background', async () => {
    const here = await scene();
    const { person, chatId, agent, view } = here;
    const front = await broken(here);
    const back = await here.turn({ onBusy: 'parallel' });
    await back.close('failed');
    await person.ended(chatId, back.requestId);
    const busy = await here.turn();
    await person.do('turn:resume', { requestId: front.requestId });
    await person.do('turn:resume', { requestId: back.requestId });
    const again = await agent.run(back.requestId, 2);
    expect((await person.turn(front.requestId)).status).toBe('queued');
    await again.close();
    await busy.close();
    await (await agent.run(front.requestId, 2)).close();
    await person.ended(chatId, front.requestId, 2);
    expect(view.ends(back.requestId)[1]?.turn).toMatchObject({ status: 'completed', background: true, attempt: 2 });
  });

  test('a full queue refuses it, and it stays as it was', async () => {
    const here = await scene({ env: { MAX_QUEUED_TURNS: '1' } });
    const run = await broken(here);
    await here.turn();
    await here.person.start(here.chatId, 'q');
    expect((await here.person.refused('turn:resume', { requestId: run.requestId })).code).toBe('queue_full');
    expect(await here.person.turn(run.requestId)).toMatchObject({ status: 'failed', attempt: 1 });
  });

  test('TRN-5: a resume that meets a turn that is ending waits for its end', async () => {
    const here = await scene();
    const { person, chatId, agent, url } = here;
    const other = await new Person(url).open();
    let run = await here.turn();
    for (let attempt = 2; attempt <= 20; attempt++) {
      const [, resumed] = await Promise.all([
        person.do('turn:stop', { requestId: run.requestId }),
        person.do('turn:resume', { requestId: run.requestId }),
      ]);
      expect(resumed).toMatchObject({ duplicate: false, turn: { attempt } });
      run = await agent.run(run.requestId, attempt);
      // From another connection it may come before the stop: then the turn runs still.
      const [, ack] = await Promise.all([
        person.do('turn:stop', { requestId: run.requestId }),
        other.ask('turn:resume', { requestId: run.requestId, attempt: attempt + 1 }),
      ]);
      if (!ack.ok) {
        expect(ack.error.code).toBe('turn_not_resumable');
        await person.do('turn:resume', { requestId: run.requestId });
      }
      run = await agent.run(run.requestId, ++attempt);
    }
    await run.close();
    await person.ended(chatId, run.requestId, run.attempt);
    await expectConsistent(url, chatId, [person]);
  });

  test('C36: what the older attempt still sends is refused, with turn:abort', async () => {
    const here = await scene();
    const { person, chatId, url } = here;
    const run = await here.turn();
    await run.send('old');
    await person.do('turn:stop', { requestId: run.requestId });
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await here.agent.run(run.requestId, 2);
    await next.send('new');
    const error = await run.agent.refused('turn:push', {
      ...run.frame,
      seq: run.seq + 1,
      ops: [{ op: 'send', type: 'text', props: { content: 'ghost' } }],
    });
    expect(error.code).toBe('stale_attempt');
    expect((await run.agent.refused('turn:close', { ...run.frame, seq: run.seq + 1, status: 'completed' })).code).toBe(
      'stale_attempt',
    );
    const stranger = await new Agent(url, ['bot']).join();
    expect((await stranger.refused('turn:push', { ...next.frame, seq: next.seq + 1, ops: [] })).code).toBe(
      'stale_attempt',
    );
    expect((await person.turn(run.requestId)).status).toBe('running');
    await next.close();
    await person.ended(chatId, run.requestId, 2);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'new']);
  });
});
