import { expect, test } from 'vitest';
import type { AgentResult, Turn } from '../../protocol/index.js';
import { Agent, Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import type { TestServer } from '../harness/server.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';

/** Nodes, and at each a person with a chat of `bot` that the node owns. */
async function nodesWithChats(count: number, env: Record<string, string> = {}) {
  const nodes = new Nodes();
  const all: { server: TestServer; person: Person; chatId: string; start: () => Promise<Turn> }[] = [];
  for (let n = 0; n < count; n++) {
    const server = await nodes.start({ env });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const start = async () => (await person.start(chatId, 'go', { onBusy: 'parallel' })).turn;
    all.push({ server, person, chatId, start });
  }
  const [a, b, c = a] = all as [(typeof all)[number], (typeof all)[number], (typeof all)[number]?];
  if (!a || !b || !c) throw new Error('there are at least two nodes');
  return { a, b, c };
}

describeOnRedis('agents that are attached to another node than the chat', () => {
  test('LIF-4, AGT-8: an agent delegates to one at a third node, and both read the chat', async () => {
    const { a, b, c } = await nodesWithChats(3);
    const agent = await new Agent(b.server.url, ['bot']).join();
    const helper = await new Agent(c.server.url, ['helper']).join();
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    await run.send('before');
    const answering = run.delegate('helper', 'help');
    const child = await helper.run(requestId);
    expect(child.assignment).toMatchObject({ stackParentId: run.stackId, assistantId: 'helper' });
    await child.send('within');
    expect(await helper.do('turn:input', { requestId, stackId: child.stackId })).toEqual(child.assignment);
    const { messages } = await helper.do<AgentResult<'message:list'>>('message:list', { chatId: a.chatId });
    expect(messages.map(({ props }) => props['content'])).toEqual(['go', 'before', 'within']);
    expect(await agent.do('chat:get', { chatId: a.chatId })).toMatchObject({ chat: { chatId: a.chatId } });
    await child.close('completed', { output: 'done' });
    expect(await answering).toMatchObject({ status: 'completed', output: 'done' });
    await run.send('after');
    await run.close();
    await a.person.ended(a.chatId, requestId);
    const history = await expectConsistent(c.server.url, a.chatId, [a.person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'before', 'within', 'after']);
  });

  test('LIF-4, AGT-1: pushes that are not waited for are applied in order, and a gap is told', async () => {
    const { a, b } = await nodesWithChats(2);
    const agent = await new Agent(b.server.url, ['bot']).join();
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    const messageId = await run.send('');
    await Promise.all(Array.from({ length: 30 }, (_, n) => run.append(messageId, `${n} `)));
    const gap = await agent.refused('turn:push', { ...run.frame, seq: run.seq + 2, ops: [] });
    expect(gap).toMatchObject({ code: 'seq_gap', details: { expected: run.seq + 1 } });
    await run.close();
    await a.person.ended(a.chatId, requestId);
    expect(a.person.chats.get(a.chatId)?.text(requestId)).toBe(Array.from({ length: 30 }, (_, n) => `${n} `).join(''));
  });

  test('LIF-4, AGT-3: a stopped turn is told to its agent, which writes no more', async () => {
    const { a, b } = await nodesWithChats(2);
    const agent = await new Agent(b.server.url, ['bot']).join();
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    await a.person.do('turn:stop', { requestId });
    expect(await run.aborted()).toMatchObject({ reason: 'stopped' });
    await a.person.ended(a.chatId, requestId);
    expect(await agent.refused('turn:push', { ...run.frame, seq: 1, ops: [] })).toMatchObject({ code: 'turn_ended' });
  });

  test('LIF-4, AGT-4: an agent comes back at another node and goes on after lastSeq', async () => {
    const { a, b, c } = await nodesWithChats(3);
    const agent = await new Agent(b.server.url, ['bot']).join();
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    const messageId = await run.send('one ');
    agent.drop();
    await until(() => agent.disconnectReason, 'the break');
    const back = await new Agent(c.server.url, ['bot'], { agentId: agent.agentId }).open();
    expect((await back.attach()).assigned).toEqual([{ ...run.frame, lastSeq: 1 }]);
    const again = new Run(back, requestId, 1, run.stackId, null, 1);
    await again.append(messageId, 'two');
    await again.close();
    await a.person.ended(a.chatId, requestId);
    expect(a.person.chats.get(a.chatId)?.text(requestId)).toBe('one two');
    // One connection was given it, once.
    expect([agent.runs.length, back.runs.length]).toEqual([1, 0]);
  });

  test('LIF-4, AGT-4: a newer attach at another node closes the older, and takes what it held', async () => {
    const { a, b, c } = await nodesWithChats(3);
    const older = await new Agent(b.server.url, ['bot']).join();
    const { requestId } = await a.start();
    const run = await older.run(requestId);
    await run.send('old ');
    const newer = await new Agent(c.server.url, ['bot'], { agentId: older.agentId }).open();
    expect((await newer.attach()).assigned).toEqual([{ ...run.frame, lastSeq: 1 }]);
    await until(() => older.disconnectReason, 'the older connection closed');
    expect(older.goaways).toMatchObject([{ code: 'replaced', reconnect: false }]);
    const taken = new Run(newer, requestId, 1, run.stackId, null, 1);
    await taken.send('new');
    await taken.close();
    await a.person.ended(a.chatId, requestId);
    expect(a.person.chats.get(a.chatId)?.text(requestId)).toBe('old new');
  });

  test('LIF-4, AGT-4: an agent that stays away loses its turns at every node', async () => {
    const { a, b } = await nodesWithChats(2, { AGENT_GRACE_MS: '100' });
    const agent = await new Agent(b.server.url, ['bot'], { concurrency: 2 }).join();
    const [one, two] = [await a.start(), await b.start()];
    await agent.run(one.requestId);
    await agent.run(two.requestId);
    agent.drop();
    for (const [{ person, chatId }, { requestId }] of [[a, one] as const, [b, two] as const])
      expect((await person.ended(chatId, requestId)).turn).toMatchObject({ stopReason: 'agent_lost' });
  });

  test('LIF-4, TRN-10: while nobody anywhere serves the assistant the turn waits, and then fails', async () => {
    const { a, b } = await nodesWithChats(2, { AGENT_WAIT_MS: '1500' });
    const { requestId } = await a.start();
    const agent = await new Agent(b.server.url, ['bot']).join();
    await (await agent.run(requestId)).close();
    expect((await a.person.ended(a.chatId, requestId)).turn).toMatchObject({ status: 'completed' });
    agent.close();
    const alone = await a.start();
    expect((await a.person.ended(a.chatId, alone.requestId)).turn).toMatchObject({
      status: 'failed',
      stopReason: 'agent_unavailable',
    });
  });

  test('LIF-4: a node that has missed what another told of its agents asks again', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.process(), await nodes.start()];
    const ann = await new Person(a.url).open();
    const chatId = await ann.createChat({ assistantId: 'bot' });
    await ann.follow(chatId);
    const owner = await nodes.redis('HGET', 'owner:' + chatId, 'node');
    process.kill(a.pid, 'SIGSTOP');
    // What comes first is on its way to the node already; what comes after it is lost.
    await new Agent(b.url, ['another']).join();
    const agent = await new Agent(b.url, ['bot']).join();
    await nodes.redis('DEL', `inbox:${String(owner)}`);
    process.kill(a.pid, 'SIGCONT');
    // The next word of the other node tells that there were some before it.
    await new Agent(b.url, ['third']).join();
    const { requestId } = (await ann.start(chatId, 'go')).turn;
    await (await agent.run(requestId)).close();
    expect((await ann.ended(chatId, requestId)).turn.status).toBe('completed');
  }, 30_000);

  test('LIF-4: a turn is opened at a node that does not own the chat, and one in a chat that it makes', async () => {
    const { a, b } = await nodesWithChats(2);
    const agent = await new Agent(b.server.url, ['bot']).join();
    const run = await agent.openTurn({ chatId: a.chatId });
    await run.send('unasked');
    await run.close();
    await a.person.ended(a.chatId, run.requestId);
    expect(a.person.chats.get(a.chatId)?.text(run.requestId)).toBe('unasked');
    const chatId = uid('c');
    const made = await agent.openTurn({ chatId, createChat: { createdBy: 'anonymous' } });
    await made.close();
    expect(await agent.refused('turn:open', { chatId: uid('c'), assistantId: 'bot' })).toMatchObject({
      code: 'not_found',
    });
  });
});

describeOnRedis('the places of an agent, over all nodes', () => {
  /** Closes each frame that the agent is given, and counts how many it has at once. */
  async function workOff(agent: Agent, requestIds: readonly string[]): Promise<number> {
    let most = 0;
    let closed = 0;
    while (closed < requestIds.length) {
      await until(() => agent.runs.length > closed, 'a frame');
      most = Math.max(most, agent.runs.length - closed);
      for (const run of agent.runs.slice(closed, closed + 1)) await run.close();
      closed++;
    }
    return most;
  }

  test('LIF-4, AGT-5: however many nodes grant at the same moment, an agent has never more frames than it takes', async () => {
    const { a, b, c } = await nodesWithChats(3);
    const agent = await new Agent(c.server.url, ['bot'], { concurrency: 2 }).join();
    const turns = await Promise.all([a, b, c].flatMap(({ start }) => Array.from({ length: 8 }, start)));
    expect(
      await workOff(
        agent,
        turns.map(({ requestId }) => requestId),
      ),
    ).toBe(2);
    for (const { person, chatId } of [a, b, c])
      await until(
        () => person.chats.get(chatId)?.events.filter(({ type }) => type === 'turn.ended').length === 8,
        'all ends',
      );
    // What it had no room for, it has never heard of.
    expect(agent.aborts).toEqual([]);
    expect(new Set(agent.runs.map(({ requestId }) => requestId)).size).toBe(24);
  });

  test('LIF-4, AGT-5: frames that an agent opened, and those it brought along to another node, take places', async () => {
    const { a, b, c } = await nodesWithChats(3);
    const agent = await new Agent(b.server.url, ['bot'], { concurrency: 2 }).join();
    const opened = await agent.openTurn({ chatId: a.chatId });
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    const moved = await new Agent(c.server.url, ['bot'], { agentId: agent.agentId, concurrency: 2 }).join();
    const waiting = [await a.start(), await b.start(), await c.start()];
    await until(async () => (await c.person.turn(waiting[2]?.requestId ?? '')).status === 'queued', 'one that waits');
    expect(moved.runs).toEqual([]);
    await new Run(moved, opened.requestId, 1, opened.stackId, null).close();
    await until(() => moved.runs.length === 1, 'the place of the one that was opened');
    await new Run(moved, requestId, 1, run.stackId, null).close();
    const requestIds = waiting.map((turn) => turn.requestId);
    expect(await workOff(moved, requestIds)).toBe(2);
    expect(moved.runs.map((granted) => granted.requestId).sort()).toEqual([...requestIds].sort());
  });

  test('LIF-4, AGT-8: a call within a turn that it runs finds room with an agent that is full, whichever node owns the chat', async () => {
    const { a, b } = await nodesWithChats(2);
    const agent = await new Agent(b.server.url, ['bot'], { concurrency: 1 }).join();
    const { requestId } = await a.start();
    const run = await agent.run(requestId);
    const answering = run.delegate('bot', 'more');
    const child = await until(() => agent.runs.find(({ stackId }) => stackId !== run.stackId), 'the call');
    await child.close('completed', { output: 1 });
    expect(await answering).toMatchObject({ output: 1 });
    await run.close();
    await a.person.ended(a.chatId, requestId);
  });
});
