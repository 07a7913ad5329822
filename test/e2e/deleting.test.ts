import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { commands, type CommandName, type OpInput } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { gauge } from '../harness/metric.js';
import { Refused, uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { storeBeside } from '../harness/store-beside.js';
import { until } from '../harness/until.js';
import { requestAs } from './request-as.js';
import { scene } from './scene.js';

describe('CMD-3: chat:delete', () => {
  test('CMD-3: turns end as deleted, then chat.deleted, then nothing; the ack comes last', async () => {
    const here = await scene();
    const { url, person, chatId } = here;
    const run = await here.turn();
    const other = await here.turn({ onBusy: 'parallel' });
    const queued = (await person.start(chatId, 'queued')).turn;
    const messageId = await run.send('half');
    await run.append(messageId, ' an answer');
    const second = await new Person(url).open();
    const follower = await second.follow(chatId);
    const order: string[] = [];
    const deleter = await new Person(url).open();
    await deleter.follow(chatId);
    deleter.socket.onAny(
      (name: string, batch: { type: string }[]) => name === 'events' && order.push(...batch.map(({ type }) => type)),
    );
    expect(await deleter.do('chat:delete', { chatId })).toEqual({ chatId });
    order.push('ack');
    const late = await Promise.allSettled([run.append(messageId, 'late'), other.send('late')]);
    for (const push of late) expect(push).toMatchObject({ status: 'rejected', reason: expect.any(Refused) as Refused });
    await until(() => follower.view?.deleted, 'chat.deleted');
    for (const requestId of [run.requestId, other.requestId, queued.requestId]) {
      expect(
        follower.ends(requestId).map(({ turn }) => [turn.status, turn.stopReason]),
        requestId,
      ).toEqual([['interrupted', 'deleted']]);
    }
    const types = follower.events.map(({ type }) => type);
    expect(types.at(-1)).toBe('chat.deleted');
    expect(types.filter((type) => type === 'chat.deleted')).toHaveLength(1);
    expect(types.lastIndexOf('turn.ended')).toBeLessThan(types.indexOf('chat.deleted'));
    expect(order.slice(-2)).toEqual(['chat.deleted', 'ack']);
    await second.do('chat:list');
    expect(follower.events.at(-1)?.type).toBe('chat.deleted');
  });

  test('C25: deleting ends the work: agents and assistants in the process are told at once', async () => {
    let abortedAfter = Infinity;
    let began = 0;
    const endless = defineAssistant({
      assistantId: 'endless',
      run: (ctx) =>
        new Promise<void>((resolve) =>
          ctx.abortSignal.addEventListener('abort', () => {
            abortedAfter = performance.now() - began;
            resolve();
          }),
        ),
    });
    const here = await scene({ assistants: [endless] });
    const { person, chatId, url } = here;
    const { turn } = await person.start(chatId, 'x', { assistantId: 'endless' });
    const run = await here.turn({ onBusy: 'parallel' });
    await until(() => here.view.view?.turns.get(turn.requestId)?.status === 'running', 'both run');
    expect(await gauge(url, 'turns_active')).toBe(2);
    began = performance.now();
    await person.do('chat:delete', { chatId });
    expect(await run.aborted()).toMatchObject({ reason: 'deleted' });
    expect(performance.now() - began).toBeLessThan(500);
    expect(abortedAfter).toBeLessThan(500);
    expect(await gauge(url, 'turns_active')).toBe(0);
    await expect(run.send('late')).rejects.toThrow(/turn_ended|not_found/);
  });

  test('C46: a chat full of messages, turns and steps is deleted, and nothing of it is left to be seen', async () => {
    const here = await scene();
    const { person, chatId, url, server } = here;
    const ops = (turn: number): OpInput[] =>
      Array.from({ length: 100 }, (_, index): OpInput[] => [
        { op: 'step.start', stepId: `step-${turn}-${index}-0123456789`, type: 'tool', input: index },
        { op: 'send', type: 'text', props: { content: `${index}` } },
      ]).flat();
    let stackId = '';
    for (let turn = 0; turn < 5; turn++) {
      const run = await here.turn();
      stackId = run.stackId;
      await run.push(...ops(turn));
      await (turn % 2 ? run.close() : person.do('turn:stop', { requestId: run.requestId }));
      await person.ended(chatId, run.requestId);
    }
    const { messageId, requestId } = here.view.messages.at(-1)!;
    expect(await requestAs(url, {}, 'chat:delete', { chatId })).toEqual({ chatId });
    const asked: [CommandName, Record<string, unknown>][] = [
      ['chat:get', { chatId }],
      ['message:list', { chatId }],
      ['turn:list', { chatId }],
      ['turn:get', { requestId }],
      ['step:list', { requestId }],
      ['step:stack', { stackId }],
      ['step:path', { stackId }],
      ['step:incomplete', { chatId }],
      ['message:update', { messageId, props: {} }],
      ['turn:resume', { requestId }],
    ];
    for (const [name, args] of asked) await expect(requestAs(url, {}, name, args), name).rejects.toThrow(/not_found/);
    for (const scope of ['mine', 'all']) expect(await person.do('chat:list', { scope })).toMatchObject({ total: 0 });
    await here.server.close();
    for (const table of ['agent_chat', 'agent_message', 'agent_turn', 'agent_step']) {
      const left = `SELECT count(*) AS n FROM ${table} WHERE deleted_at IS NULL`;
      expect(await storeBeside(server.dataDir).rows(left), table).toEqual([{ n: 0 }]);
    }
  });

  test("C47, CMD-3: a deleted chat is as unknown as one that never was, or is another's, for every command", async () => {
    const here = await scene();
    const { person, chatId, url } = here;
    const run = await here.turn();
    const stepId = uid('s');
    await run.push({ op: 'step.start', stepId, type: 'llm' });
    const messageId = await run.send('x');
    await run.close();
    await person.ended(chatId, run.requestId);
    const stranger = await new Person(url, { userId: 'stranger' }).open();
    const theirs = await stranger.createChat({ assistantId: 'bot' });
    await stranger.follow(theirs);
    const foreign = await stranger.start(theirs, 'x', { requestId: uid('r') });
    const other = await here.agent.run(foreign.turn.requestId);
    const otherStep = uid('s');
    await other.push({ op: 'step.start', stepId: otherStep, type: 'llm' });
    await person.do('chat:delete', { chatId });
    const targets = [
      { chatId, requestId: run.requestId, messageId, stepId, stackId: run.stackId },
      { chatId: uid('c'), requestId: uid('r'), messageId: uid('m'), stepId: uid('s'), stackId: uid('k') },
      {
        chatId: theirs,
        requestId: foreign.turn.requestId,
        messageId: foreign.messages[0]!.messageId,
        stepId: otherStep,
        stackId: other.stackId,
      },
    ];
    const rest: Partial<Record<CommandName, object>> = {
      typing: { typing: true },
      'turn:start': { input: 'x' },
      'message:save': { messages: [] },
      'message:update': { props: {} },
      'message:delete': { messageIds: ['m'] },
      'step:save': { steps: [] },
      'step:update': { status: 'failed' },
    };
    const byId = (name: CommandName, target: (typeof targets)[number]) => {
      const { chatId: chat, requestId } = target;
      if (name === 'message:update') return { messageId: target.messageId };
      if (name === 'step:update') return { stepId: target.stepId };
      if (name === 'step:stack' || name === 'step:path') return { stackId: target.stackId };
      return ['turn:get', 'step:list', 'turn:stop', 'turn:resume'].includes(name) ? { requestId } : { chatId: chat };
    };
    for (const name of Object.keys(commands) as CommandName[]) {
      if (!commands[name].socket || commands[name].right === 'any') continue;
      for (const target of targets) {
        expect(await person.refused(name, { ...byId(name, target), ...rest[name] }), name).toEqual({
          code: 'not_found',
          message: 'There is nothing of this name.',
          retryable: false,
        });
      }
    }
    expect(await person.do('chat:list', { scope: 'all' })).toMatchObject({ total: 0 });
    expect((await stranger.do('message:list', { chatId: theirs })).messages).toHaveLength(1);
  });

  test('CMD-3: nothing that comes later brings it back; its id is never used again', async () => {
    const here = await scene();
    const { person, chatId, agent, url, server } = here;
    const run = await here.turn();
    await person.do('chat:delete', { chatId });
    await expect(run.send('late')).rejects.toThrow(/turn_ended|not_found/);
    await expect(run.close()).rejects.toThrow(/turn_ended|not_found/);
    expect(await agent.refused('turn:open', { chatId, assistantId: 'bot' })).toMatchObject({ code: 'not_found' });
    const again = async (who: Person, what: Agent) => {
      expect(await who.refused('chat:create', { chatId, assistantId: 'bot' })).toMatchObject({ code: 'conflict' });
      expect(
        await who.refused('turn:start', { chatId, input: 'x', createChat: true, assistantId: 'echo' }),
      ).toMatchObject({ code: 'conflict' });
      expect(
        await what.refused('turn:open', { chatId, assistantId: 'bot', createChat: { createdBy: 'x' } }),
      ).toMatchObject({ code: 'conflict' });
    };
    await again(person, agent);
    await again(await new Person(url, { userId: 'stranger' }).open(), agent);
    await server.close();
    const { url: later } = await startServer({ dataDir: server.dataDir });
    await again(await new Person(later).open(), await new Agent(later, ['bot']).join());
  });

  test('CMD-3: a start that races the deletion is answered by one of them, and leaves no turn that runs', async () => {
    const here = await scene();
    for (let round = 0; round < 10; round++) {
      const chatId = await here.person.createChat();
      const other = await new Person(here.url).open();
      const [deleted, ...starts] = await Promise.all([
        other.ask('chat:delete', { chatId }),
        ...Array.from({ length: 5 }, (_, index) =>
          here.person.ask('turn:start', { chatId, input: `${index}`, metadata: { delayMs: 1 } }),
        ),
        other.ask('turn:start', { chatId, input: 'after' }),
      ]);
      expect(deleted).toMatchObject({ ok: true });
      expect(starts.at(-1)).toMatchObject({ ok: false, error: { code: 'not_found' } });
      for (const start of starts) if (!start.ok) expect(start.error.code).toBe('not_found');
    }
    await until(async () => (await gauge(here.url, 'turns_active')) === 0, 'no turn that runs');
  });
});
