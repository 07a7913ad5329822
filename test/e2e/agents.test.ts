import { describe, expect, test } from 'vitest';
import type { Goaway, OpInput } from '../../protocol/index.js';
import { Agent, Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);
const say = (content: string): OpInput => ({ op: 'send', messageId: uid('m'), type: 'text', props: { content } });

describe('AGT-1: seq', () => {
  test('a repeated seq is answered as the first time and not applied again, also after the end', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const run = await turn();
    const push = { ...run.frame, seq: 1, ops: [say('once')] };
    const answers = await Promise.all([
      agent.do('turn:push', push),
      agent.do('turn:push', push),
      agent.do('turn:push', push),
    ]);
    expect(answers).toEqual([{ seq: 1 }, { seq: 1 }, { seq: 1 }]);
    const close = { ...run.frame, seq: 2, status: 'completed' };
    const [first, again] = await Promise.all([agent.do('turn:close', close), agent.do('turn:close', close)]);
    expect(first).toMatchObject({ persisted: true, turn: { status: 'completed' } });
    expect(again).toEqual(first);
    await person.ended(chatId, run.requestId);
    expect(await agent.do('turn:close', close)).toEqual(first);
    expect(await agent.do('turn:push', push)).toEqual({ seq: 1 });
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'once']);
  });

  test('a gap is seq_gap with expected; nothing of it is applied, and the next one is taken', async () => {
    const { person, agent, chatId, turn } = await scene();
    const run = await turn();
    await run.push(say('one'));
    for (const seq of [3, 99]) {
      expect(await agent.refused('turn:push', { ...run.frame, seq, ops: [say('gap')] })).toMatchObject({
        code: 'seq_gap',
        details: { expected: 2 },
      });
    }
    expect(await agent.refused('turn:close', { ...run.frame, seq: 5, status: 'completed' })).toMatchObject({
      code: 'seq_gap',
      details: { expected: 2 },
    });
    await run.push(say('two'));
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(person.chats.get(chatId)?.text(run.requestId)).toBe('onetwo');
  });

  test('C01: many pushes without waiting are applied strictly in order', async () => {
    const { url, person, chatId, turn } = await scene();
    const run = await turn();
    const messageId = await run.send('');
    await Promise.all(Array.from({ length: 500 }, (_, index) => run.append(messageId, `${index},`)));
    await run.close();
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history[1]?.props['content']).toBe(Array.from({ length: 500 }, (_, index) => `${index},`).join(''));
  });
});

describe('AGT-2: a push is all or nothing', () => {
  const bad: [string, (messageId: string) => OpInput | Record<string, unknown>][] = [
    ['an unknown message', () => ({ op: 'append', messageId: uid('m'), text: 'x' })],
    ['an unknown op', () => ({ op: 'dance' })],
    ['a step that never began', () => ({ op: 'step.end', stepId: uid('s'), status: 'completed' })],
    ['a path through a text', (messageId) => ({ op: 'set', messageId, path: 'content.deeper', value: 1 })],
    ['a forbidden key', (messageId) => ({ op: 'set', messageId, path: '__proto__.x', value: 1 })],
    ['a message of a user', () => ({ op: 'send', type: 'text', props: {}, role: 'user' })],
    ['a second message of one id', (messageId) => ({ op: 'send', messageId, type: 'text', props: {} })],
  ];
  test.each(bad)('%s refuses the whole push with its index and changes nothing', async (_what, op) => {
    const { url, person, agent, chatId, view, turn } = await scene();
    const run = await turn();
    const messageId = await run.send('a');
    await run.send('open');
    const before = await expectConsistent(url, chatId, [person]);
    const offset = view.position?.offset;
    const stepId = uid('s');
    const ops = [
      { op: 'append', messageId, text: 'b' },
      { op: 'step.start', stepId, type: 'llm' },
      say('c'),
      { op: 'space.set', key: 'k', value: 1 },
      { op: 'signal', name: 'never', data: null },
      { op: 'end', messageId },
      op(messageId),
    ];
    const error = await agent.refused('turn:push', { ...run.frame, seq: run.seq + 1, ops });
    expect(error).toMatchObject({ code: 'bad_request', details: { index: 6 } });
    expect((await person.do('step:list', { requestId: run.requestId })).steps).toEqual([]);
    expect(await expectConsistent(url, chatId, [person])).toEqual(before);
    expect(view.position?.offset).toBe(offset);
    expect(person.signals).toEqual([]);
    await run.push({ op: 'append', messageId, text: 'b' });
    await run.close();
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(contents(history)).toEqual(['go', 'ab', 'open']);
    expect(history.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });
});

describe('AGT-3: only the holder writes', () => {
  test('any other connection gets stale_attempt and turn:abort; nothing of it is stored or broadcast', async () => {
    const { url, person, chatId, turn } = await scene();
    const run = await turn();
    const other = await new Agent(url, ['bot']).join();
    for (const [command, more] of [
      ['turn:push', { ops: [say('ghost')] }],
      ['turn:close', { status: 'completed' }],
      ['turn:delegate', { assistantId: 'echo', input: 'x' }],
    ] as const) {
      expect((await other.refused(command, { ...run.frame, seq: 1, ...more })).code).toBe('stale_attempt');
    }
    await until(() => other.aborts.length === 3, 'turn:abort');
    expect(other.aborts[0]).toMatchObject({ ...run.frame });
    await run.send('mine');
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'mine']);
  });

  test('AGT-3: before it has attached, a connection may write nothing', async () => {
    const { url, turn } = await scene();
    const run = await turn();
    const nobody = await new Agent(url, ['bot']).open();
    expect((await nobody.refused('turn:push', { ...run.frame, seq: 1, ops: [] })).code).toBe('stale_attempt');
    expect((await nobody.refused('turn:open', { chatId: 'c', assistantId: 'bot' })).code).toBe('forbidden');
    expect((await nobody.refused('turn:input', { requestId: run.requestId })).code).toBe('forbidden');
  });

  test('an ended turn gets turn_ended, and its turn:abort', async () => {
    const { person, chatId, turn } = await scene();
    const run = await turn();
    await person.do('turn:stop', { chatId });
    expect((await run.aborted()).reason).toBe('stopped');
    expect((await run.agent.refused('turn:push', { ...run.frame, seq: 1, ops: [say('late')] })).code).toBe(
      'turn_ended',
    );
    expect((await run.agent.refused('turn:close', { ...run.frame, seq: 1, status: 'completed' })).code).toBe(
      'turn_ended',
    );
  });
});

describe('AGT-4: an agent that disconnects', () => {
  test('comes back within the grace and goes on after lastSeq; what was sent and not acknowledged is sent again', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const run = await turn();
    const messageId = await run.send('');
    for (let round = 1; round <= 5; round++) {
      const pushes = ['a', 'b', 'c', 'd'].map((letter, index) => ({
        ...run.frame,
        seq: run.seq + index + 1,
        ops: [{ op: 'append', messageId, text: `${letter}${round} ` }],
      }));
      const sent = pushes.slice(0, 3).map((push) => agent.ask('turn:push', push, 300).catch(() => null));
      if (round % 2) await sent[0];
      agent.drop();
      await Promise.all(sent);
      await agent.open();
      const { assigned } = await agent.attach();
      expect(assigned).toEqual([{ ...run.frame, lastSeq: expect.any(Number) as number }]);
      const lastSeq = assigned[0]?.lastSeq ?? 0;
      expect(lastSeq).toBeGreaterThanOrEqual(run.seq);
      for (const push of pushes) await agent.do('turn:push', push);
      run.seq += 4;
    }
    expect(agent.runs).toHaveLength(1);
    await run.close();
    await person.ended(chatId, run.requestId);
    const [, answer] = await expectConsistent(url, chatId, [person]);
    expect(answer?.props['content']).toBe(
      [1, 2, 3, 4, 5].map((round) => `a${round} b${round} c${round} d${round} `).join(''),
    );
  });

  test('a close that was not acknowledged is answered after the return', async () => {
    const { person, agent, chatId, turn } = await scene();
    const run = await turn();
    const close = { ...run.frame, seq: 1, status: 'completed' };
    const sent = agent.ask('turn:close', close, 300).catch(() => null);
    await person.ended(chatId, run.requestId);
    agent.drop();
    await sent;
    await agent.open();
    expect((await agent.attach()).assigned).toEqual([]);
    expect(await agent.do('turn:close', close)).toMatchObject({ persisted: true });
  });

  test('after the grace its turns end as agent_lost with all text kept, resumable; the chat goes on', async () => {
    const { url, person, agent, chatId, turn } = await scene({ env: { AGENT_GRACE_MS: '100' } });
    const run = await turn();
    await run.send('kept');
    agent.drop();
    expect((await person.ended(chatId, run.requestId)).turn).toMatchObject({
      status: 'interrupted',
      stopReason: 'agent_lost',
    });
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'kept']);
    await agent.open();
    expect((await agent.attach()).assigned).toEqual([]);
    expect((await agent.refused('turn:push', { ...run.frame, seq: 2, ops: [] })).code).toMatch(
      /stale_attempt|turn_ended/,
    );
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    await next.close();
    await person.ended(chatId, run.requestId, 2);
  });

  test('a newer attach with the same agentId closes the older connection, and takes what it held', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const run = await turn();
    await run.send('old ');
    const newer = new Agent(url, ['bot'], { agentId: agent.agentId, concurrency: 100 });
    await newer.open();
    expect((await newer.attach()).assigned).toEqual([{ ...run.frame, lastSeq: 1 }]);
    await until(() => agent.disconnectReason, 'the older connection closed');
    expect(agent.goaways).toEqual([
      expect.objectContaining({ code: 'replaced', reconnect: false } satisfies Partial<Goaway>),
    ]);
    const taken = new Run(newer, run.requestId, 1, run.stackId, null, 1);
    await taken.send('new');
    await taken.close();
    await person.ended(chatId, run.requestId);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'old ', 'new']);
  });

  test('the agentId is scoped to tenant and user: another user of that name takes nothing', async () => {
    const { url, person, agent, chatId, turn } = await scene();
    const run = await turn();
    for (const as of [{ userId: 'other' }, { userId: 'agent', tenantId: 'other' }]) {
      const twin = new Agent(url, ['bot'], { agentId: agent.agentId, as });
      await twin.open();
      expect((await twin.attach()).assigned).toEqual([]);
    }
    expect(agent.disconnectReason).toBeNull();
    await run.close();
    await person.ended(chatId, run.requestId);
  });

  test('attaching again on the same connection changes the offer and keeps what it holds', async () => {
    const { person, agent, chatId, turn } = await scene();
    const run = await turn();
    const { assigned } = await agent.do('agent:attach', {
      agentId: agent.agentId,
      assistants: [{ assistantId: 'second' }],
    });
    expect(assigned).toEqual([{ ...run.frame, lastSeq: 0 }]);
    const { turn: other } = await person.start(chatId, 'x', { assistantId: 'second', onBusy: 'parallel' });
    await (await agent.run(other.requestId)).close();
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(
      (await agent.refused('agent:attach', { agentId: 'another-name', assistants: [{ assistantId: 'bot' }] })).code,
    ).toBe('conflict');
  });
});
