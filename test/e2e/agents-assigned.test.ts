import { describe, expect, test } from 'vitest';
import type { Chat, Result } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const contents = (messages: readonly { props: Record<string, unknown> }[]) =>
  messages.map(({ props }) => props['content']);

describe('AGT-5: one assignment, one execution', () => {
  test('frames go to the agent with the most room, none beyond its concurrency; no turn is run twice', async () => {
    const { url } = await startServer();
    const agents = await Promise.all([1, 2, 5].map((concurrency) => new Agent(url, ['bot'], { concurrency }).join()));
    const person = await new Person(url).open();
    const chats = await Promise.all(Array.from({ length: 30 }, () => person.createChat({ assistantId: 'bot' })));
    const started = await Promise.all(chats.map((chatId) => person.start(chatId, 'go')));
    const all = () => agents.flatMap(({ runs }) => runs);
    await until(() => all().length === 8, 'every place taken');
    expect(agents.map(({ runs }) => runs.length)).toEqual([1, 2, 5]);
    const closed = new Set<string>();
    while (closed.size < 30) {
      const run = await until(() => all().find(({ requestId }) => !closed.has(requestId)), 'a run');
      closed.add(run.requestId);
      await run.close();
    }
    expect(
      all()
        .map(({ requestId }) => requestId)
        .sort(),
    ).toEqual(started.map(({ turn }) => turn.requestId).sort());
  });

  test('C36: an agent that does not acknowledge within 5 s loses the frame to another; one that has pushed has taken it', async () => {
    const { url, person, agent, chatId } = await scene();
    agent.accepts = false;
    const [busy, silent] = [uid('r'), uid('r')];
    for (const requestId of [busy, silent]) await person.start(chatId, 'go', { requestId, onBusy: 'parallel' });
    const pushing = await agent.run(busy);
    await pushing.send('without a word');
    const frozen = await agent.run(silent);
    const other = await new Agent(url, ['bot']).join();
    const run = await other.run(silent);
    expect((await frozen.aborted()).reason).toBe('reassigned');
    const ghost = [{ op: 'send', type: 'text', props: { content: 'ghost' } }];
    expect((await agent.refused('turn:push', { ...frozen.frame, seq: 1, ops: ghost })).code).toBe('stale_attempt');
    await run.send('real');
    await run.close();
    await pushing.close();
    for (const requestId of [busy, silent]) {
      expect((await person.ended(chatId, requestId)).turn.status).toBe('completed');
      const started = person.chats
        .get(chatId)
        ?.events.filter((event) => event.type === 'turn.started' && event.requestId === requestId);
      expect(started).toHaveLength(1);
    }
    expect(other.runs).toHaveLength(1);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'go', 'without a word', 'real']);
  });

  test('C52: an agent that never acknowledges, alone: its turns end as agent_unavailable, and nothing is left', async () => {
    const { url, person, agent, chatId, view } = await scene({ env: { AGENT_WAIT_MS: '100' } });
    agent.accepts = false;
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => (await person.start(chatId, 'go', { onBusy: 'parallel' })).turn.requestId),
    );
    // Behind the 5 s of the assignment.
    await until(() => ids.every((requestId) => view.ends(requestId).length > 0), 'every end', 25_000);
    for (const requestId of ids)
      expect(view.ends(requestId)[0]?.turn).toMatchObject({ status: 'failed', stopReason: 'agent_unavailable' });
    expect(await metric(url, 'turnstream_turns_active')).toBe(0);
    agent.accepts = true;
    const { turn } = await person.start(chatId, 'again');
    await (await agent.run(turn.requestId)).close();
    expect((await person.ended(chatId, turn.requestId)).turn.status).toBe('completed');
  });
});

describe('turn:open', () => {
  test('a background turn that no person started: followed, read and ended like any other', async () => {
    const { url, person, agent, chatId, view, turn } = await scene();
    const front = await turn();
    const run = await agent.openTurn({ chatId, metadata: { why: 'timer' } });
    const { turn: opened } = await person.do<Result<'turn:get'>>('turn:get', { requestId: run.requestId });
    expect(opened).toMatchObject({
      background: true,
      status: 'running',
      assistantId: 'bot',
      metadata: { why: 'timer' },
    });
    await run.send('by myself');
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(view.events.filter((event) => event.requestId === run.requestId).map(({ type }) => type)).toEqual([
      'turn.queued',
      'turn.started',
      'message.created',
      'message.closed',
      'turn.ended',
    ]);
    await front.close();
    await person.ended(chatId, front.requestId);
    expect(contents(await expectConsistent(url, chatId, [person]))).toEqual(['go', 'by myself']);
  });

  test('idempotent by requestId for its holder; another agent, or another chat, is idempotency_conflict', async () => {
    const { url, person, agent, chatId } = await scene();
    const requestId = uid('r');
    const args = { chatId, assistantId: 'bot', requestId };
    const answers = await Promise.all([agent.do('turn:open', args), agent.do('turn:open', args)]);
    expect(answers[1]).toMatchObject({ attempt: 1, stackId: answers[0].stackId });
    const other = await new Agent(url, ['bot']).join();
    expect((await other.refused('turn:open', args)).code).toBe('idempotency_conflict');
    const elsewhere = await person.createChat();
    expect((await agent.refused('turn:open', { ...args, chatId: elsewhere })).code).toBe('idempotency_conflict');
    expect((await person.refused('turn:start', { chatId, input: 'x', requestId })).code).toBe('idempotency_conflict');
    const run = await agent.openTurn({ chatId, requestId });
    await run.close();
    await person.ended(chatId, requestId);
    expect((await agent.do('turn:open', args)).turn.status).toBe('completed');
  });

  test('createChat makes the chat for its person; twice at once it is one chat and one turn', async () => {
    const { url, agent } = await scene();
    for (let round = 0; round < 5; round++) {
      const args = {
        chatId: uid('c'),
        assistantId: 'bot',
        requestId: uid('r'),
        createChat: { createdBy: 'ann', title: 'Made', share: 'team', teamId: 't' },
      };
      const answers = await Promise.all([
        agent.do('turn:open', args),
        agent.do('turn:open', args),
        agent.do('turn:open', args),
      ]);
      expect(new Set(answers.map(({ stackId }) => stackId)).size).toBe(1);
      const ann = await new Person(url, { userId: 'ann' }).open();
      const { chat } = await ann.do<{ chat: Chat }>('chat:get', { chatId: args.chatId });
      expect(chat).toMatchObject({ createdBy: 'ann', title: 'Made', share: 'team', teamId: 't', assistantId: 'bot' });
    }
  });

  test('an assistant that it has not attached is forbidden; an unknown chat, or one of another tenant, not_found', async () => {
    const { url, agent, chatId } = await scene();
    expect((await agent.refused('turn:open', { chatId, assistantId: 'other' })).code).toBe('forbidden');
    expect((await agent.refused('turn:open', { chatId: uid('c'), assistantId: 'bot' })).code).toBe('not_found');
    const foreign = await new Agent(url, ['bot'], { as: { tenantId: 'elsewhere' } }).join();
    expect((await foreign.refused('turn:open', { chatId, assistantId: 'bot' })).code).toBe('not_found');
    expect(
      (await foreign.refused('turn:open', { chatId, assistantId: 'bot', createChat: { createdBy: 'x' } })).code,
    ).toBe('conflict');
  });

  test('messages of users are allowed in it, with the role of other frameworks in metadata', async () => {
    const { url, person, agent, chatId } = await scene();
    const run = await agent.openTurn({ chatId });
    await run.push(
      { op: 'send', type: 'text', props: { content: 'asked elsewhere' }, role: 'user', metadata: { role: 'function' } },
      { op: 'send', type: 'text', props: { content: 'answered here' } },
    );
    await run.close();
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ role, assistantId, metadata }) => ({ role, assistantId, metadata }))).toEqual([
      { role: 'user', assistantId: null, metadata: { role: 'function' } },
      { role: 'assistant', assistantId: 'bot', metadata: null },
    ]);
  });

  test('at most sixteen background turns per chat, opened ones among them', async () => {
    const { person, agent, chatId } = await scene();
    for (let index = 0; index < 16; index++) await agent.openTurn({ chatId });
    expect((await agent.refused('turn:open', { chatId, assistantId: 'bot' })).code).toBe('queue_full');
    expect((await person.refused('turn:start', { chatId, input: 'x', onBusy: 'parallel' })).code).toBe('queue_full');
  });

  test('its connection cut while it opens: the turn ends as agent_lost, or goes on when the agent returns', async () => {
    const { person, agent, chatId, view } = await scene({ env: { AGENT_GRACE_MS: '200' } });
    const closeHeld = async (): Promise<void> => {
      for (const frame of (await agent.attach()).assigned)
        await agent.do('turn:close', { ...frame, seq: frame.lastSeq + 1, status: 'completed' });
    };
    for (let round = 0; round < 5; round++) {
      const requestId = uid('r');
      void agent.ask('turn:open', { chatId, assistantId: 'bot', requestId }, 100).catch(() => null);
      await person.do('chat:get', { chatId });
      agent.drop();
      await until(() => agent.disconnectReason, 'the agent gone');
      if (round % 2)
        await until(async () => !view.view?.turns.has(requestId) || view.ends(requestId).length > 0, 'its end');
      await agent.open();
      await closeHeld();
    }
    const list = (): Promise<Result<'turn:list'>> => person.do('turn:list', { chatId });
    await until(async () => {
      // One may have come to be after the agent had asked what it holds.
      await closeHeld();
      return (await list()).turns.every(({ status }) => status !== 'running' && status !== 'queued');
    }, 'every turn ended');
    const { turns } = await list();
    for (const { requestId } of turns) await person.ended(chatId, requestId);
  });

  test('its agent may resume it like any other, with its frame in any agent that serves it', async () => {
    const { person, agent, chatId } = await scene();
    const run = await agent.openTurn({ chatId });
    await run.close('failed', { error: 'x' });
    await person.ended(chatId, run.requestId);
    await person.do('turn:resume', { requestId: run.requestId });
    const next = await agent.run(run.requestId, 2);
    expect(next.stackId).toBe(run.stackId);
    await next.close();
    expect((await person.ended(chatId, run.requestId, 2)).turn).toMatchObject({
      status: 'completed',
      background: true,
    });
  });
});

describe('AGT-7: history', () => {
  test('each answer right after its own question, never what still waits; its own input in input alone', async () => {
    const { person, agent, chatId, turn } = await scene();
    const one = await turn();
    const two = (await person.start(chatId, 'two')).turn.requestId;
    const three = (await person.start(chatId, 'three')).turn.requestId;
    expect([one.assignment?.history, contents(one.assignment?.input ?? [])]).toEqual([[], ['go']]);
    await one.send('to one');
    await one.close();
    const second = await agent.run(two);
    expect(contents(second.assignment?.history ?? [])).toEqual(['go', 'to one']);
    expect(contents(second.assignment?.input ?? [])).toEqual(['two']);
    await second.send('to two');
    await second.close();
    const third = await agent.run(three);
    expect(contents(third.assignment?.history ?? [])).toEqual(['go', 'to one', 'two', 'to two']);
    await third.close();
    await person.ended(chatId, three);
  });

  test('stored messages alone: of a turn beside it what was said before, not what it is saying', async () => {
    const { person, agent, chatId, turn } = await scene();
    const beside = await turn({ onBusy: 'parallel' });
    const stepId = uid('s');
    await beside.push({ op: 'step.start', stepId, type: 'llm' });
    await beside.send('to go');
    await beside.push({ op: 'step.end', stepId, status: 'completed' });
    await beside.close('interrupted');
    await person.ended(chatId, beside.requestId);
    await person.do('turn:resume', { requestId: beside.requestId });
    const again = await agent.run(beside.requestId, 2);
    const messageId = await again.send('half');
    await again.push({ op: 'end', messageId });
    const first = await turn();
    expect(contents(first.assignment?.history ?? [])).toEqual(['go', 'to go']);
    await first.close();
    await again.close();
    await person.ended(chatId, again.requestId, 2);
    const next = await turn();
    expect(contents(next.assignment?.history ?? [])).toEqual(['go', 'to go', 'half', 'go']);
  });

  test.each([
    [undefined, 50],
    [3, 3],
    [1, 1],
  ])('C43: historyLimit %s: the newest %s messages, streamed or sent at once', async (historyLimit, count) => {
    const { person, agent } = await scene();
    const chatId = await person.createChat({ assistantId: 'bot', metadata: { historyLimit } });
    await person.follow(chatId);
    const all: string[] = [];
    for (let index = 0; index < 30; index++) {
      const run = await agent.run((await person.start(chatId, `q${index}`)).turn.requestId);
      if (index % 2) await run.send(`a${index}`);
      else await run.append(await run.send(''), `a${index}`);
      await run.close();
      await person.ended(chatId, run.requestId);
      all.push(`q${index}`, `a${index}`);
    }
    const last = await agent.run((await person.start(chatId, 'last')).turn.requestId);
    expect(contents(last.assignment?.history ?? [])).toEqual(all.slice(-count));
  });
});
