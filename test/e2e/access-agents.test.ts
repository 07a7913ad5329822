import { describe, expect, test } from 'vitest';
import type { AgentCommandName } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import { askBySocket } from './access-asking.js';
import { KINDS, openPerson, scene, type Kind } from './access-callers.js';
import {
  AGENT_ROWS,
  STANDING,
  tokenOfWorker,
  WORKERS,
  type Work,
  type Worker,
  type WorkerName,
} from './access-rows.js';

const CHATS: Record<Kind, object> = {
  private: {},
  team: { share: 'team' },
  public: { public: true },
  deleted: { share: 'team', public: true },
};

async function enlist(url: string, name: WorkerName): Promise<Agent> {
  const worker: Worker = WORKERS[name];
  const { as, offers, agentId } = worker;
  const agent = new Agent(url, offers === null ? [] : [offers], { as, agentId, concurrency: 100 });
  await agent.open({ token: await tokenOfWorker(worker) });
  if (offers !== null) await agent.attach();
  return agent;
}

const nothing = (seq: number): Work => ({
  chatId: uid('c'),
  otherChatId: uid('c'),
  frame: { requestId: uid('r'), attempt: 1 },
  seq,
});

/** Every row, asked by one agent; what is unknown to it beside what is not there. */
async function walk(agent: Agent, name: WorkerName, kind: Kind, work: Work): Promise<void> {
  for (const [command, rows] of Object.entries(AGENT_ROWS) as [AgentCommandName, (typeof AGENT_ROWS)['turn:push']][])
    for (const [index, { args, expects }] of rows.entries()) {
      const ask = async (about: Work) => askBySocket(agent, command, await args(about, WORKERS[name]));
      const what = `${command} (${index}) on ${kind} by ${name}`;
      const expected = expects(STANDING[name], kind);
      const told = await ask(work);
      expect.soft(told.outcome, what).toBe(expected);
      if (expected === 'not_found')
        expect
          .soft(told.words, `CMD-1: ${what}, as if it were not there`)
          .toEqual((await ask(nothing(work.seq))).words);
    }
}

describe('ACC-3: the matrix of agents', () => {
  test.each(KINDS)('ACC-1, ACC-3, AGT-3: every command of agents × every agent, in a %s chat', async (kind) => {
    const { url, agent: first } = await scene();
    first.close();
    const owner = await openPerson(url, 'owner');
    const holder = await enlist(url, 'holder');
    const chatId = await owner.createChat({ assistantId: 'bot', ...CHATS[kind] });
    const otherChatId = await owner.createChat({ assistantId: 'bot', ...CHATS[kind] });
    const chat = await owner.follow(chatId);
    const { turn } = await owner.start(chatId, 'go');
    const run = await holder.run(turn.requestId);
    await run.send('the holder’s');
    if (kind === 'deleted') for (const gone of [chatId, otherChatId]) await owner.do('chat:delete', { chatId: gone });
    const work = { chatId, otherChatId, frame: run.frame, seq: run.seq + 1 };

    const others = (Object.keys(WORKERS) as WorkerName[]).filter((name) => name !== 'holder');
    await Promise.all(others.map(async (name) => walk(await enlist(url, name), name, kind, work)));
    await walk(holder, 'holder', kind, work);
    if (kind === 'deleted') return;
    await owner.ended(chatId, turn.requestId);
    expect(chat.text(turn.requestId)).toBe('the holder’sx');
    // It holds nothing there any more.
    for (const command of ['chat:get', 'message:list'])
      expect(await holder.refused(command, { chatId })).toMatchObject({ code: 'not_found' });
    expect(await holder.refused('turn:input', { requestId: turn.requestId })).toMatchObject({ code: 'not_found' });
    expect(await holder.refused('turn:push', { ...run.frame, seq: work.seq + 3, ops: [] })).toMatchObject({
      code: 'turn_ended',
    });
  });

  test('ACC-1, AGT-3: of a turn that ended long ago, other tenants know nothing', async () => {
    const { url, server, agent: first } = await scene();
    first.close();
    const owner = await openPerson(url, 'owner');
    const holder = await enlist(url, 'holder');
    const chatId = await owner.createChat({ assistantId: 'bot' });
    await owner.follow(chatId);
    const { turn } = await owner.start(chatId, 'go');
    const run = await holder.run(turn.requestId);
    await run.close();
    await owner.ended(chatId, turn.requestId);
    await server.close();

    const { url: later } = await scene({ DATA_DIR: server.dataDir });
    const push = { ...run.frame, seq: 1, ops: [] };
    for (const name of ['agent of another tenant', 'agent of no tenant'] as const) {
      const agent = await enlist(later, name);
      const unknown = await agent.refused('turn:push', { ...push, requestId: uid('r') });
      expect(unknown).toMatchObject({ code: 'not_found' });
      expect(await agent.refused('turn:push', push), name).toEqual(unknown);
    }
    expect(await (await enlist(later, 'holder')).refused('turn:push', push)).toMatchObject({ code: 'turn_ended' });
  });

  test('ACC-1: an id that is taken is told to agents in the same words, whether its chat lives or was deleted', async () => {
    const { url, owner } = await scene();
    const living = await owner.createChat();
    const deleted = await owner.createChat();
    await owner.do('chat:delete', { chatId: deleted });
    const agent = await enlist(url, 'agent of another tenant');
    const ask = (chatId: string) =>
      agent.refused('turn:open', { chatId, assistantId: 'bot', createChat: { createdBy: 'owner' } });
    expect(await ask(living)).toMatchObject({ code: 'conflict' });
    expect(await ask(living)).toEqual(await ask(deleted));
  });
});
