import { describe, expect, it } from 'vitest';
import type { Result } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { storeBeside } from '../harness/store-beside.js';
import { until } from '../harness/until.js';

async function scene() {
  const server = await startServer();
  const person = await new Person(server.url).open();
  const agent = await new Agent(server.url, ['bot']).join();
  const begin = async (held?: string) => {
    const chatId = held ?? (await person.createChat({ assistantId: 'bot' }));
    if (held === undefined) await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    return { chatId, run: await agent.run(turn.requestId) };
  };
  return { server, person, agent, begin };
}

describe('write 2', () => {
  it('TRN-6: the id of a message or step that is taken by another costs neither of them', async () => {
    const { server, person, begin } = await scene();
    const [messageId, stepId] = [uid('m'), uid('s')];
    const first = await begin();
    await first.run.push(
      { op: 'step.start', stepId, type: 'llm' },
      { op: 'send', messageId, type: 'text', props: { content: 'first' } },
    );
    await first.run.close();
    const second = await begin();
    await second.run.push(
      { op: 'step.start', stepId, type: 'tool' },
      { op: 'send', messageId, type: 'text', props: { content: 'second' } },
    );
    await second.run.send('third');
    await second.run.close();
    const end = await person.ended(second.chatId, second.run.requestId);
    expect([end.turn.status, end.persisted]).toEqual(['completed', true]);
    const one = await expectConsistent(server.url, first.chatId, [person]);
    const two = await expectConsistent(server.url, second.chatId, [person]);
    expect(one.map(({ props }) => props['content'])).toEqual(['go', 'first']);
    expect(one[1]?.messageId).toBe(messageId);
    expect(two.map(({ props }) => props['content']).sort()).toEqual(['go', 'second', 'third']);
    const { steps } = await person.do<Result<'step:list'>>('step:list', { requestId: second.run.requestId });
    expect(steps.map(({ type }) => type)).toEqual(['tool']);
  });

  it('DAT-4: the id of a message that the chat has hides it until the end, from everybody alike', async () => {
    const { server, person, begin } = await scene();
    const { chatId, run } = await begin();
    const messageId = uid('m');
    await run.push({ op: 'send', messageId, type: 'text', props: { content: 'first' } });
    await run.close();
    await person.ended(chatId, run.requestId);
    const again = await begin(chatId);
    await again.run.push({ op: 'send', messageId, type: 'text', props: { content: 'second' } });
    const contents = async () => {
      const history = await expectConsistent(server.url, chatId, [person]);
      return history.map(({ props }) => props['content']);
    };
    expect(await contents()).toEqual(['go', 'go', 'second']);
    const { messages } = await person.do<Result<'message:list'>>('message:list', { chatId, limit: 1, before: 3 });
    expect(messages.map(({ sequence }) => sequence)).toEqual([1]);
    await again.run.push({ op: 'append', messageId, text: ' answer' });
    await again.run.close();
    await person.ended(chatId, again.run.requestId);
    expect(await contents()).toEqual(['go', 'first', 'go', 'second answer']);
    const events = person.chats.get(chatId)?.events ?? [];
    const told = events.map(({ type, requestId }) => (requestId === run.requestId ? type : null));
    expect(told.findLast(Boolean), 'TRN-6: no event of the first attempt after its end').toBe('turn.ended');
  });

  it('AGT-2: the id of a message that another turn is writing, or that was asked, is refused', async () => {
    const { person, agent, begin } = await scene();
    const { chatId, run } = await begin();
    const messageId = uid('m');
    await run.push({ op: 'send', messageId, type: 'text', props: { content: 'first' } });
    const { turn } = await person.start(chatId, 'go', { onBusy: 'parallel' });
    const other = await agent.run(turn.requestId);
    for (const id of [messageId, other.assignment?.input[0]?.messageId])
      expect(
        await agent.refused('turn:push', {
          ...{ ...other.frame, seq: 1 },
          ops: [{ op: 'send', messageId: id, type: 'text', props: { content: 'second' } }],
        }),
      ).toMatchObject({ code: 'bad_request', details: { index: 0, path: 'messageId' } });
  });

  it('CMD-4: what people edit and delete while it is under way is stored with it', async () => {
    const { server, person, begin } = await scene();
    const { chatId, run } = await begin();
    const [edited, deleted] = [await run.send('draft'), await run.send('secret')];
    const lock = await storeBeside(server.dataDir).lock();
    const closed = run.close();
    await until(
      () => person.chats.get(chatId)?.messages.every(({ state }) => state === 'closed'),
      'messages are closed',
    );
    await person.do('message:update', { messageId: edited, props: { content: 'final' } });
    await person.do('message:delete', { chatId, messageIds: [deleted] });
    await lock.release();
    await closed;
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(server.url, chatId, [person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'final']);
  });

  it('DAT-4: what an attempt sends under the id of a message that was deleted is stored, under another', async () => {
    const { server, person, agent, begin } = await scene();
    const { chatId, run } = await begin();
    const messageId = uid('m');
    await run.push({ op: 'send', messageId, type: 'text', props: { content: 'first' } });
    await run.close('interrupted');
    await person.ended(chatId, run.requestId);
    await person.do('message:delete', { chatId, messageIds: [messageId] });
    await person.do('turn:resume', { requestId: run.requestId });
    const again = await agent.run(run.requestId, 2);
    await again.push({ op: 'send', messageId, type: 'text', props: { content: 'second' } });
    await again.close();
    await person.ended(chatId, run.requestId, 2);
    const history = await expectConsistent(server.url, chatId, [person]);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'second']);
  });
});
