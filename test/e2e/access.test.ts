import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { type Refused, uid, type As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';

const OWNER: As = { userId: 'owner', teamId: 't1', tenantId: 'n1' };
const CALLERS = {
  owner: OWNER,
  'team mate': { userId: 'mate', teamId: 't1', tenantId: 'n1' },
  'same tenant': { userId: 'guest', teamId: 't2', tenantId: 'n1' },
  'no team': { userId: 'loner', tenantId: 'n1' },
  'other tenant': { userId: 'owner', teamId: 't1', tenantId: 'n2' },
  'no tenant': { userId: 'owner', teamId: 't1' },
  admin: { userId: 'root', tenantId: 'n1', roles: ['user', 'admin'] },
  'admin of another tenant': { userId: 'owner', teamId: 't1', tenantId: 'n2', roles: ['user', 'admin'] },
} satisfies Record<string, As>;
type Caller = keyof typeof CALLERS;

const CHATS = { private: {}, team: { share: 'team' }, public: { public: true } } as const;
type Kind = keyof typeof CHATS;

/** ACC-2, written out: r read, t talk, c change. Each command and route is asked in access-matrix.test.ts. */
const RIGHTS: Record<Caller, Record<Kind, string>> = {
  owner: { private: 'rtc', team: 'rtc', public: 'rtc' },
  'team mate': { private: '', team: 'rt', public: 'r' },
  'same tenant': { private: '', team: '', public: 'r' },
  'no team': { private: '', team: '', public: 'r' },
  'other tenant': { private: '', team: '', public: '' },
  'no tenant': { private: '', team: '', public: '' },
  admin: { private: 'rc', team: 'rc', public: 'rc' },
  'admin of another tenant': { private: '', team: '', public: '' },
};

interface Place {
  readonly chatId: string;
  readonly requestId: string;
}

/** A chat with an ended turn, a message and a step in it. */
async function furnish(owner: Person, agent: Agent, settings: object): Promise<Place> {
  const chatId = await owner.createChat({ assistantId: 'bot', ...settings });
  await owner.follow(chatId);
  const { turn } = await owner.start(chatId, 'go');
  const run = await agent.run(turn.requestId);
  await run.push({ op: 'step.start', stepId: uid('s'), type: 'llm', input: 'secret' });
  await run.send('answer');
  await run.close();
  await owner.ended(chatId, turn.requestId);
  return { chatId, requestId: turn.requestId };
}

/** `ok`, or the code of the refusal. */
const outcome = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error as Refused).error.code,
  );

async function scene() {
  const { url } = await startServer();
  const owner = await new Person(url, OWNER).open();
  const agent = await new Agent(url, ['bot'], { as: { tenantId: 'n1' }, concurrency: 100 }).join();
  return { url, owner, agent };
}

describe('ACC-1, ACC-2: who may do what', () => {
  test('ACC-2: deleting is for the creator and admins', async () => {
    const { url, owner, agent } = await scene();
    for (const caller of [
      'team mate',
      'same tenant',
      'other tenant',
      'admin of another tenant',
      'admin',
      'owner',
    ] as const) {
      const { chatId } = await furnish(owner, agent, { share: 'team', public: true });
      const person = await new Person(url, CALLERS[caller]).open();
      const held = RIGHTS[caller].team + RIGHTS[caller].public;
      expect(await outcome(person.do('chat:delete', { chatId })), caller).toBe(
        held.includes('c') ? 'ok' : held.includes('r') ? 'forbidden' : 'not_found',
      );
    }
  });

  test('ACC-2: chat:list shows to each what they may read, by scope', async () => {
    const { url, owner, agent } = await scene();
    const ids: Record<string, string> = {};
    for (const kind of Object.keys(CHATS) as Kind[]) ids[(await furnish(owner, agent, CHATS[kind])).chatId] = kind;
    const foreign = await new Person(url, CALLERS['other tenant']).open();
    for (const settings of Object.values(CHATS)) ids[await foreign.createChat(settings)] = 'foreign';
    const seen: Record<string, Record<string, string>> = {};
    for (const caller of Object.keys(CALLERS) as Caller[]) {
      const person = await new Person(url, CALLERS[caller]).open();
      seen[caller] = {};
      for (const scope of ['mine', 'team', 'public', 'all']) {
        const { data, total } = await person.do<{ data: { chatId: string }[]; total: number }>('chat:list', { scope });
        expect(total).toBe(data.length);
        seen[caller][scope] = data
          .map(({ chatId }) => ids[chatId])
          .sort()
          .join(' ');
      }
    }
    const all = 'private public team';
    const foreigners = {
      mine: 'foreign foreign foreign',
      team: 'foreign',
      public: 'foreign',
      all: 'foreign foreign foreign',
    };
    expect(seen).toEqual({
      owner: { mine: all, team: 'team', public: 'public', all },
      'team mate': { mine: '', team: 'team', public: 'public', all: 'public team' },
      'same tenant': { mine: '', team: '', public: 'public', all: 'public' },
      'no team': { mine: '', team: '', public: 'public', all: 'public' },
      'other tenant': foreigners,
      'no tenant': { mine: '', team: '', public: '', all: '' },
      admin: { mine: '', team: '', public: 'public', all },
      'admin of another tenant': foreigners,
    });
  });

  test('ACC-1: an id that is taken elsewhere is a conflict that says nothing more', async () => {
    const { url, owner, agent } = await scene();
    const { chatId, requestId } = await furnish(owner, agent, {});
    const gone = await furnish(owner, agent, {});
    await owner.do('chat:delete', { chatId: gone.chatId });
    for (const caller of ['team mate', 'other tenant'] as const) {
      const person = await new Person(url, CALLERS[caller]).open();
      const own = await person.createChat();
      for (const taken of [chatId, gone.chatId]) {
        const created = await person.refused('chat:create', { chatId: taken, assistantId: 'echo' });
        expect(created).toMatchObject({ code: 'conflict' });
        expect(created).not.toHaveProperty('details');
        expect(
          await person.refused('turn:start', { chatId: taken, input: 'x', createChat: true, assistantId: 'echo' }),
        ).toMatchObject({ code: 'conflict' });
      }
      for (const taken of [requestId, gone.requestId]) {
        const started = await person.refused('turn:start', { chatId: own, input: 'go', requestId: taken });
        expect(started).toEqual({
          code: 'idempotency_conflict',
          message: expect.any(String) as string,
          retryable: false,
        });
        expect(
          await person.refused('turn:start', {
            chatId: uid('c'),
            input: 'go',
            requestId: taken,
            createChat: true,
            assistantId: 'echo',
          }),
        ).toEqual(started);
      }
      expect(await person.do('message:list', { chatId: own })).toMatchObject({ messages: [] });
      expect(await person.do('chat:list')).toMatchObject({ total: 1 });
    }
  });

  test('C11: one who may not read hears nothing while others talk', async () => {
    const { url, owner, agent } = await scene();
    const { chatId } = await furnish(owner, agent, {});
    const heard: unknown[] = [];
    const stranger = await new Person(url, CALLERS['team mate']).open();
    stranger.socket.onAny((...event: unknown[]) => heard.push(event));
    expect(await stranger.refused('chat:subscribe', { chatId })).toMatchObject({ code: 'not_found' });
    await stranger.ask('typing', { chatId, typing: true });
    await stranger.ask('turn:stop', { chatId });
    const { turn } = await owner.start(chatId, 'go');
    const run = await agent.run(turn.requestId);
    await run.push({ op: 'signal', name: 'private', data: 1 });
    const messageId = await run.send('');
    for (let index = 0; index < 50; index++) await run.append(messageId, 'x');
    await run.close();
    await owner.ended(chatId, turn.requestId);
    await stranger.do('chat:list');
    expect(heard).toEqual([]);
    expect(owner.chats.get(chatId)?.text(turn.requestId)).toBe('x'.repeat(50));
    expect(owner.presences.flatMap(({ users }) => users.map(({ userId }) => userId))).not.toContain('mate');
  });
});

describe('ACC-3: agents', () => {
  test('ACC-3: an agent reads chats in which it holds a turn, for as long as it holds it', async () => {
    const { url, owner, agent } = await scene();
    const chatId = await owner.createChat({ assistantId: 'bot' });
    const other = await new Agent(url, ['other'], { as: { tenantId: 'n1' } }).join();
    const reads = async (who: Agent) => [
      await outcome(who.do('chat:get', { chatId })),
      await outcome(who.do('message:list', { chatId })),
    ];
    expect(await reads(agent)).toEqual(['not_found', 'not_found']);
    const { turn } = await owner.start(chatId, 'go');
    const run = await agent.run(turn.requestId);
    expect(await reads(agent)).toEqual(['ok', 'ok']);
    expect(await reads(other)).toEqual(['not_found', 'not_found']);
    expect(await outcome(other.do('turn:push', { ...run.frame, seq: 1, ops: [] }))).toBe('stale_attempt');
    expect(await outcome(other.do('turn:input', { requestId: turn.requestId }))).toBe('not_found');
    await run.close();
    expect(await reads(agent)).toEqual(['not_found', 'not_found']);
  });

  test('ACC-3: an agent opens turns in chats of its tenant, for assistants it attached', async () => {
    const { url, owner, agent } = await scene();
    const { chatId, requestId } = await furnish(owner, agent, {});
    const foreign = await new Agent(url, ['bot'], { as: { tenantId: 'n2' } }).join();
    const open = (who: Agent, more: object = {}) =>
      outcome(who.do('turn:open', { chatId, assistantId: 'bot', ...more }));
    expect(await open(agent)).toBe('ok');
    expect(await open(agent, { assistantId: 'echo' })).toBe('forbidden');
    expect(await open(foreign)).toBe('not_found');
    expect(await open(foreign, { chatId: uid('c') })).toBe('not_found');
    expect(await open(foreign, { createChat: { createdBy: 'x' } })).toBe('conflict');
    expect(await open(foreign, { chatId: uid('c'), createChat: { createdBy: 'x' }, requestId })).toBe(
      'idempotency_conflict',
    );
    const created = uid('c');
    expect(await open(foreign, { chatId: created, createChat: { createdBy: 'owner' } })).toBe('ok');
    expect(await outcome(owner.do('chat:get', { chatId: created }))).toBe('not_found');
    const theirs = await new Person(url, CALLERS['other tenant']).open();
    expect((await theirs.do('chat:get', { chatId: created })).chat).toMatchObject({
      createdBy: 'owner',
      tenantId: 'n2',
    });
  });

  test('ACC-1, ACC-3: an agent of another tenant is neither seen nor given turns', async () => {
    const { url } = await startServer({ env: { AGENT_WAIT_MS: '20' } });
    const foreign = await new Agent(url, ['bot'], { as: { tenantId: 'n2' } }).join();
    const person = await new Person(url, OWNER).open();
    expect(person.hello?.assistants.map(({ assistantId }) => assistantId)).toEqual(['echo']);
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    expect((await person.ended(chatId, turn.requestId)).turn.stopReason).toBe('agent_unavailable');
    expect(foreign.runs).toEqual([]);
  });
});
