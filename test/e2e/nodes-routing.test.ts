import { expect, test } from 'vitest';
import type { Chat, Message, Result, Turn } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { describeOnRedis } from '../harness/services.js';
import { until } from '../harness/until.js';
import { requestAs } from './request-as.js';

/** A chat that node `a` owns, and people at both nodes. */
async function twoNodes(assistantId = 'echo') {
  const nodes = new Nodes();
  const [a, b] = [await nodes.start(), await nodes.start()];
  const [ann, bob] = [await new Person(a.url).open(), await new Person(b.url).open()];
  const chatId = await ann.createChat({ assistantId });
  await ann.follow(chatId);
  return { nodes, a, b, ann, bob, chatId };
}

/** The same with a turn that runs, and has said "so far". */
async function runningTurn() {
  const scene = await twoNodes('bot');
  const agent = await new Agent(scene.a.url, ['bot'], { concurrency: 10 }).join();
  const { requestId } = (await scene.ann.start(scene.chatId, 'go')).turn;
  const run = await agent.run(requestId);
  const messageId = await run.send('so far');
  return { ...scene, agent, requestId, run, messageId };
}

describeOnRedis('commands at a node that does not own the chat', () => {
  test('LIF-4: a chat is read, changed, listed and deleted from any node', async () => {
    const { ann, bob, chatId } = await twoNodes();
    expect((await bob.do<{ chat: Chat }>('chat:get', { chatId })).chat.chatId).toBe(chatId);
    await bob.do('chat:update', { chatId, title: 'from b' });
    await until(() => ann.chats.get(chatId)?.view?.chat.title === 'from b', 'the title');
    expect((await ann.do<{ chat: Chat }>('chat:get', { chatId })).chat.title).toBe('from b');
    expect((await bob.do<Result<'chat:list'>>('chat:list')).data.map(({ title }) => title)).toEqual(['from b']);
    await bob.do('chat:delete', { chatId });
    await until(() => ann.chats.get(chatId)?.events.some(({ type }) => type === 'chat.deleted'), 'chat.deleted');
    expect(await ann.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
  });

  test('LIF-4: messages are saved, listed, edited and deleted from any node, in one order', async () => {
    const { a, b, ann, bob, chatId } = await twoNodes();
    const saved = (person: Person, content: string) =>
      person.do<{ messages: Message[] }>('message:save', {
        chatId,
        messages: [{ messageId: uid('m'), role: 'user', type: 'text', props: { content } }],
      });
    const [one, two, three] = await Promise.all([saved(bob, 'one'), saved(ann, 'two'), saved(bob, 'three')]);
    const sequences = [one, two, three].flatMap(({ messages }) => messages.map(({ sequence }) => sequence));
    expect(new Set(sequences).size).toBe(3);
    const messageId = one.messages[0]?.messageId;
    await bob.do('message:update', { messageId, props: { content: 'edited' } });
    await bob.do('message:delete', { chatId, messageIds: [two.messages[0]?.messageId] });
    const { messages } = await ann.do<Result<'message:list'>>('message:list', { chatId });
    expect(messages.map(({ props }) => props['content']).sort()).toEqual(['edited', 'three']);
    await expectConsistent(a.url, chatId, [ann]);
    await expectConsistent(b.url, chatId, [ann]);
  });

  test('LIF-4: what a running turn holds in memory is read, edited and deleted from any node', async () => {
    const { a, b, ann, bob, chatId, run, requestId, messageId } = await runningTurn();
    const { messages } = await bob.do<Result<'message:list'>>('message:list', { chatId });
    expect(messages.at(-1)).toMatchObject({ messageId, state: 'open', props: { content: 'so far' } });
    const open = await bob.refused('message:update', { messageId, props: { content: 'x' } });
    expect(open).toMatchObject({ code: 'conflict' });
    await run.push({ op: 'end', messageId });
    await bob.do('message:update', { messageId, props: { content: 'edited' } });
    const gone = await run.send('gone');
    await bob.do('message:delete', { chatId, messageIds: [gone] });
    await run.append(gone, ' more');
    await run.close();
    await ann.ended(chatId, requestId);
    expect(ann.chats.get(chatId)?.text(requestId)).toBe('edited');
    await expectConsistent(a.url, chatId, [ann]);
    await expectConsistent(b.url, chatId, [ann]);
  });

  test('LIF-4: a turn is got, listed, stopped and resumed from any node', async () => {
    const { ann, bob, chatId, agent, run, requestId } = await runningTurn();
    expect(await bob.turn(requestId)).toMatchObject({ status: 'running' });
    const { turns } = await bob.do<Result<'turn:list'>>('turn:list', { chatId });
    expect(turns).toMatchObject([{ requestId, status: 'running' }]);
    await bob.do('turn:stop', { requestId });
    await run.aborted();
    expect((await ann.ended(chatId, requestId)).turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    const resumed = await bob.do<Result<'turn:resume'>>('turn:resume', { chatId });
    expect(resumed.turn).toMatchObject({ requestId, attempt: 2 });
    const again = await agent.run(requestId, 2);
    await again.send('more');
    await again.close();
    await ann.ended(chatId, requestId, 2);
    expect(await bob.turn(requestId)).toMatchObject({ status: 'completed', attempt: 2 });
  });

  test('LIF-4, TRN-3: whoever comes to a busy chat is treated alike at every node', async () => {
    const { ann, bob, chatId, agent, run, requestId } = await runningTurn();
    expect(await bob.refused('turn:start', { chatId, input: 'no', onBusy: 'reject' })).toMatchObject({
      code: 'turn_busy',
    });
    const { turn: beside } = await bob.start(chatId, 'beside', { onBusy: 'parallel' });
    await (await agent.run(beside.requestId)).close();
    await ann.ended(chatId, beside.requestId);
    const { turn: queued } = await bob.start(chatId, 'queued', { onBusy: 'enqueue' });
    expect(queued.status).toBe('queued');
    const { turn: sudden } = await bob.start(chatId, 'sudden', { onBusy: 'interrupt' });
    await run.aborted();
    expect((await ann.ended(chatId, requestId)).turn).toMatchObject({ status: 'interrupted' });
    await (await agent.run(sudden.requestId)).close();
    await (await agent.run(queued.requestId)).close();
    await ann.ended(chatId, queued.requestId);
    const order = ann.chats
      .get(chatId)
      ?.events.flatMap((event) => (event.type === 'turn.started' ? [event.requestId] : []));
    expect(order).toEqual([requestId, beside.requestId, sudden.requestId, queued.requestId]);
  });

  test('LIF-4, TRN-11: an answer is given anew from any node', async () => {
    const { ann, bob, chatId, agent, run, requestId } = await runningTurn();
    await run.close();
    await ann.ended(chatId, requestId);
    const { turn } = await bob.do<Result<'turn:start'>>('turn:start', { chatId, regenerate: requestId });
    const anew = await agent.run(turn.requestId);
    await anew.send('anew');
    await anew.close();
    await ann.ended(chatId, turn.requestId);
    expect(ann.chats.get(chatId)?.messages.map(({ props }) => props['content'])).toEqual(['go', 'anew']);
  });

  test('LIF-4: steps of a running turn, and recorded ones, are read and changed from any node', async () => {
    const { bob, ann, chatId, run, requestId } = await runningTurn();
    const stepId = uid('s');
    await run.push({ op: 'step.start', stepId, type: 'llm', input: 'think' });
    const { steps } = await bob.do<Result<'step:list'>>('step:list', { requestId });
    expect(steps).toMatchObject([{ stepId, status: 'running' }]);
    const { stackId } = run;
    expect((await bob.do<Result<'step:stack'>>('step:stack', { stackId })).steps).toMatchObject([{ stepId }]);
    expect((await bob.do<Result<'step:path'>>('step:path', { stackId })).path).toEqual([stackId]);
    await bob.do('turn:stop', { chatId });
    await ann.ended(chatId, requestId);
    const { step } = await bob.do<Result<'step:incomplete'>>('step:incomplete', { chatId });
    expect(step).toMatchObject({ stepId });
    const own = {
      stepId: uid('s'),
      requestId: uid('r'),
      stackId: uid('k'),
      type: 'tool',
      assistantId: 'bot',
      status: 'running',
    };
    await bob.do('step:save', { chatId, steps: [own] });
    const changed = await bob.do<Result<'step:update'>>('step:update', { stepId: own.stepId, status: 'completed' });
    expect(changed.step).toMatchObject({ status: 'completed' });
    expect((await ann.do<Result<'step:stack'>>('step:stack', { stackId: own.stackId })).steps).toEqual([changed.step]);
  });

  test('LIF-4, TRN-1: the same turn:start at two nodes at once is one turn', async () => {
    const { ann, bob, chatId } = await twoNodes();
    const requestId = uid('r');
    const both = await Promise.all([
      ann.start(chatId, 'once', { requestId }),
      bob.start(chatId, 'once', { requestId }),
    ]);
    expect(both.map(({ duplicate }) => duplicate).sort()).toEqual([false, true]);
    expect(await bob.refused('turn:start', { chatId, input: 'another', requestId })).toMatchObject({
      code: 'idempotency_conflict',
    });
    await ann.ended(chatId, requestId);
    expect(ann.chats.get(chatId)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('LIF-4, ACC-1: one requestId for two chats at two nodes at once is a turn of one of them', async () => {
    const { ann, bob, chatId } = await twoNodes();
    const other = await bob.createChat();
    const requestId = uid('r');
    const acks = await Promise.all([
      ann.ask('turn:start', { chatId, input: 'here', requestId }),
      bob.ask('turn:start', { chatId: other, input: 'there', requestId }),
    ]);
    expect(acks.filter(({ ok }) => ok)).toHaveLength(1);
    expect(acks.find(({ ok }) => !ok)).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect((await bob.turn(requestId)).chatId).toBe(acks[0].ok ? chatId : other);
  });

  test('LIF-4: one chatId created at two nodes at once is one chat', async () => {
    const { ann, bob } = await twoNodes();
    const chatId = uid('c');
    const create = (person: Person) => person.do<Result<'chat:create'>>('chat:create', { chatId, assistantId: 'echo' });
    const both = await Promise.all([create(ann), create(bob)]);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(both[0].chat).toEqual(both[1].chat);
  });

  test('LIF-4: turns that were sent to several nodes wait in one queue', async () => {
    const { ann, bob, chatId, run, agent } = await runningTurn();
    const sent: Turn[] = [];
    for (const person of [bob, ann, bob, ann]) sent.push((await person.start(chatId, 'next')).turn);
    await run.close();
    for (const { requestId } of sent) {
      await (await agent.run(requestId)).close();
      await ann.ended(chatId, requestId);
    }
    expect(agent.runs.slice(1).map(({ requestId }) => requestId)).toEqual(sent.map(({ requestId }) => requestId));
  });

  test('LIF-4: every node serves a chat over HTTP', async () => {
    const { b, ann, chatId } = await twoNodes();
    const { turn } = (await requestAs(b.url, {}, 'turn:start', { chatId, input: 'over http' })) as Result<'turn:start'>;
    await ann.ended(chatId, turn.requestId);
    await requestAs(b.url, {}, 'chat:update', { chatId, title: 'over http' });
    expect(ann.chats.get(chatId)?.text(turn.requestId)).toContain('over http');
    await requestAs(b.url, {}, 'chat:delete', { chatId });
    await expect(requestAs(b.url, {}, 'chat:get', { chatId })).rejects.toMatchObject({ error: { code: 'not_found' } });
  });
});
