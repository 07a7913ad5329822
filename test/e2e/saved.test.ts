import { describe, expect, test } from 'vitest';
import type { ChatCommands, Message, Result } from '../../protocol/index.js';
import { createChatClient } from '../../client/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { scene } from './scene.js';

const text = (content: string, more: object = {}) => ({
  role: 'user' as const,
  type: 'text',
  props: { content },
  ...more,
});
const contents = (messages: readonly Message[]) => messages.map(({ props }) => props['content']);

describe('message:save', () => {
  test('DAT-4: adds closed messages behind those that are there, live for everybody who follows', async () => {
    const { url, person, chatId, view, turn } = await scene();
    const run = await turn();
    const streamed = await run.send('a');
    const { messages } = await person.do('message:save', {
      chatId,
      messages: [text('one'), { ...text('two'), role: 'assistant', assistantId: 'elsewhere', blockId: 'b' }],
    });
    await run.append(streamed, 'b');
    await run.close();
    await person.ended(chatId, run.requestId);
    expect(messages).toMatchObject([
      { sequence: 3, role: 'user', state: 'closed', requestId: null, assistantId: null },
      { sequence: 4, role: 'assistant', assistantId: 'elsewhere', blockId: 'b' },
    ]);
    expect(contents(view.messages)).toEqual(['go', 'ab', 'one', 'two']);
    await expectConsistent(url, chatId, [person]);
  });

  test('the same messageId again adds nothing; one that means something else is a conflict, and nothing is stored', async () => {
    const { person, chatId, view } = await scene();
    const messageId = uid('m');
    const save = (...messages: object[]) => person.do('message:save', { chatId, messages });
    const [first] = (await save(text('one', { messageId }))).messages;
    expect((await save(text('zero'), text('one', { messageId }))).messages[1]).toEqual(first);
    const other = await person.createChat();
    const elsewhere = (await person.do('message:save', { chatId: other, messages: [text('x')] })).messages[0];
    const deleted = (await save(text('gone'))).messages[0];
    await person.do('message:delete', { chatId, messageIds: [deleted?.messageId] });
    for (const taken of [
      text('two', { messageId }),
      text('x', { messageId: elsewhere?.messageId }),
      text('gone', { messageId: deleted?.messageId }),
    ])
      expect(await person.refused('message:save', { chatId, messages: [text('lost'), taken] })).toMatchObject({
        code: 'conflict',
        details: { messageId: (taken as { messageId?: string }).messageId },
      });
    const twice = uid('m');
    expect(
      (
        await person.refused('message:save', {
          chatId,
          messages: [text('a', { messageId: twice }), text('b', { messageId: twice })],
        })
      ).code,
    ).toBe('conflict');
    expect(contents(view.messages)).toEqual(['one', 'zero']);
  });

  test('a requestId of another chat is refused, of a turn that runs too; times are for showing', async () => {
    const { person, chatId, turn } = await scene();
    const run = await turn();
    const other = await person.createChat();
    const save = (id: string, requestId: string) =>
      person.refused('message:save', { chatId: id, messages: [text('x', { requestId })] });
    expect((await save(other, run.requestId)).code).toBe('idempotency_conflict');
    expect((await save(chatId, run.requestId)).code).toBe('conflict');
    await run.close();
    await person.ended(chatId, run.requestId);
    expect((await save(other, run.requestId)).code).toBe('idempotency_conflict');
    const createdAt = '2020-01-01T00:00:00.000Z';
    const { messages } = await person.do('message:save', {
      chatId,
      messages: [text('x', { requestId: run.requestId, createdAt })],
    });
    expect(messages).toMatchObject([{ requestId: run.requestId, createdAt, sequence: 2 }]);
  });

  test('TRN-1: no turn begins under a requestId that messages were saved under, whoever begins it', async () => {
    const { person, agent, chatId, view } = await scene();
    const [requestId, messageId] = [uid('r'), uid('m')];
    await person.do('message:save', { chatId, messages: [text('kept', { role: 'assistant', requestId, messageId })] });
    for (const refused of [
      person.refused('turn:start', { chatId, input: 'go', requestId }),
      agent.refused('turn:open', { chatId, assistantId: 'bot', requestId }),
    ])
      expect((await refused).code).toBe('idempotency_conflict');
    expect((await person.refused('turn:get', { requestId })).code).toBe('not_found');
    expect(view.events.map(({ type }) => type)).toEqual(['message.created']);
    const { messages } = await person.do('message:save', { chatId, messages: [text('more', { requestId })] });
    expect(messages).toMatchObject([{ requestId, sequence: 2 }]);
  });

  test('50 writers at once: nothing lost, one row of numbers, the same for those who join meanwhile', async () => {
    const { url, person, chatId, view } = await scene();
    const writers = await Promise.all(Array.from({ length: 10 }, () => new Person(url).open()));
    const late = new Person(url);
    const saves = Array.from({ length: 50 }, async (_, writer) => {
      for (let index = 0; index < 10; index++)
        await writers[writer % 10]?.do('message:save', { chatId, messages: [text(`${writer}.${index}`)] });
    });
    await late.open();
    await late.follow(chatId);
    await Promise.all(saves);
    await expectConsistent(url, chatId, [person, late]);
    expect(view.messages.at(-1)?.sequence).toBe(500);
    for (let writer = 0; writer < 50; writer++)
      expect(
        contents(view.messages).filter((content) => typeof content === 'string' && content.startsWith(`${writer}.`)),
        `of writer ${writer}`,
      ).toEqual(Array.from({ length: 10 }, (_, index) => `${writer}.${index}`));
  }, 60_000);
});

describe('step:save', () => {
  test('records steps behind those of their turn, changes them by id, and leaves completed ones', async () => {
    const { person, chatId, turn } = await scene();
    const requestId = uid('r');
    const step = (more: object) => ({
      requestId,
      assistantId: 'elsewhere',
      stackId: 'stack-root',
      type: 'llm',
      status: 'running',
      ...more,
    });
    const [first, second] = (
      await person.do('step:save', {
        chatId,
        steps: [
          step({ input: { q: 1 } }),
          step({ stackId: 'stack-child', stackParentId: 'stack-root', stackDepth: 1 }),
        ],
      })
    ).steps;
    expect([first?.sequence, second?.sequence]).toEqual([1, 2]);
    expect(
      (await person.do('step:update', { stepId: first?.stepId, status: 'completed', output: 'done' })).step,
    ).toMatchObject({ output: 'done', input: { q: 1 } });
    expect((await person.do('step:update', { stepId: first?.stepId, status: 'failed' })).step.status).toBe('completed');
    await person.do('step:save', {
      chatId,
      steps: [step({ stepId: second?.stepId, stackId: 'stack-child', status: 'interrupted', error: 'cut' }), step({})],
    });
    const { steps } = await person.do<Result<'step:list'>>('step:list', { requestId });
    expect(steps.map(({ status, sequence }) => [status, sequence])).toEqual([
      ['completed', 1],
      ['interrupted', 2],
      ['running', 3],
    ]);
    expect((await person.do<Result<'step:stack'>>('step:stack', { stackId: 'stack-child' })).steps).toMatchObject([
      { status: 'interrupted', error: 'cut', sequence: 2 },
    ]);
    expect((await person.do<Result<'step:path'>>('step:path', { stackId: 'stack-child' })).path).toEqual([
      'stack-root',
      'stack-child',
    ]);
    expect((await person.do<Result<'step:incomplete'>>('step:incomplete', { chatId })).step?.stepId).toBe(
      second?.stepId,
    );
    const run = await turn();
    expect((await person.refused('step:save', { chatId, steps: [step({ requestId: run.requestId })] })).code).toBe(
      'conflict',
    );
    expect((await person.refused('step:update', { stepId: 'nowhere', status: 'failed' })).code).toBe('not_found');
    const twice = step({ stepId: uid('s') });
    expect((await person.refused('step:save', { chatId, steps: [twice, twice] })).code).toBe('conflict');
    await run.close();
  });
});

describe('ACC-1: a request is of one chat', () => {
  test('steps and messages of a requestId that another chat has are refused, and say nothing of it', async () => {
    const { url } = await startServer();
    const ann = await new Person(url, { userId: 'ann', tenantId: 'x' }).open();
    const bob = await new Person(url, { userId: 'bob', tenantId: 'y' }).open();
    const [own, foreign] = [await ann.createChat(), await bob.createChat()];
    const requestId = uid('r');
    const step = {
      requestId,
      assistantId: 'a',
      stackId: 'stack-root',
      type: 'llm',
      status: 'running',
      input: 'secret',
    };
    await ann.do('step:save', { chatId: own, steps: [step] });
    for (const work of [
      bob.refused('step:save', { chatId: foreign, steps: [step] }),
      bob.refused('message:save', { chatId: foreign, messages: [text('x', { requestId })] }),
    ]) {
      const { code, details } = await work;
      expect([code, details]).toEqual(['idempotency_conflict', undefined]);
    }
    expect((await bob.refused('step:list', { requestId })).code).toBe('not_found');
    expect((await ann.do('step:list', { requestId })).steps).toHaveLength(1);
    const saved = (await ann.do('message:save', { chatId: own, messages: [text('x')] })).messages[0];
    expect(await ann.refused('message:update', { messageId: saved?.messageId, type: 'event' })).toMatchObject({
      code: 'bad_request',
      details: { path: 'type' },
    });
  });
});

describe('ChatCommands: the same in the process and over the network', () => {
  test('Turnstream.as and a client run the same commands, with the same rights', async () => {
    const server = await startServer();
    const client = createChatClient({ url: server.url, auth: { userId: 'ann' } });
    const callers: ChatCommands[] = [server.as({ userId: 'ann' }), client];
    for (const caller of callers) {
      const { chat } = await caller.call('chat:create', {
        assistantId: 'echo',
        status: 'archived',
        createdAt: '2020-01-01T00:00:00.000Z',
      });
      expect(chat).toMatchObject({ createdBy: 'ann', status: 'archived', createdAt: '2020-01-01T00:00:00.000Z' });
      const { chatId } = chat;
      await caller.call('message:save', { chatId, messages: [text('one'), text('two')] });
      expect(contents((await caller.call('message:list', { chatId })).messages)).toEqual(['one', 'two']);
      const bob = server.as({ userId: 'bob' });
      await expect(bob.call('chat:get', { chatId })).rejects.toMatchObject({ code: 'not_found' });
      await expect(bob.call('message:save', { chatId, messages: [] })).rejects.toMatchObject({ code: 'not_found' });
    }
    const { data } = await client.call('chat:list', {
      createdBy: 'ann',
      order: 'asc',
      orderBy: 'createdAt',
      startTime: '2019-01-01T00:00:00Z',
    });
    expect(data).toHaveLength(2);
    expect((await client.call('chat:list', { createdBy: 'bob' })).total).toBe(0);
    expect(() => server.as({ userId: '' })).toThrow(/userId/);
    client.close();
  });
});
