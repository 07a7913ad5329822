import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant, type Context } from '../../assistant/index.js';
import { attachAgent, type AgentOptions } from '../../client/agent/index.js';
import type { Chat } from '../../client/index.js';
import { Deferred } from '../../server/session/deferred.js';
import { becomes } from '../harness/becomes.js';
import { Proxy } from '../harness/proxy.js';
import { agentOf, answerIn, clientOf, endOf, expectSameViews, messagesOf, opened, textOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';

const assistant = (assistantId: string, run: Assistant['run']): Assistant => defineAssistant({ assistantId, run });

/** An assistant in the test's hand: each run waits for what the test does with its context. */
function held(assistantId = 'bot') {
  const runs: { ctx: Context; done: Deferred<unknown> }[] = [];
  const run = async (ctx: Context): Promise<void> => {
    const done = new Deferred<unknown>();
    runs.push({ ctx, done });
    await done.promise;
  };
  return {
    assistant: assistant(assistantId, run),
    runs,
    next: (index = 0) => until(() => runs[index], `run ${index}`),
  };
}

/** A server, a chat of this assistant that two clients follow, and the network of the agent. */
async function scene(env: Record<string, string> = {}) {
  const { url } = await startServer({ env: { COALESCE_MS: '0', ...env } });
  const proxy = await Proxy.to(url);
  const client = clientOf(url);
  const { chatId } = (await client.call('chat:create', { assistantId: 'bot' })).chat;
  const chat = await opened(client, chatId);
  const other = await opened(clientOf(url), chatId);
  const attach = (assistants: Assistant[], options: Partial<AgentOptions> = {}) =>
    agentOf(proxy.url, assistants, { auth: { userId: 'agent', roles: ['agent'] }, ...options });
  return { url, proxy, client, chat, chatId, other, attach };
}

const aborted = (ctx: Context): Promise<string> =>
  new Promise((resolve) => {
    const tell = (): void => resolve((ctx.abortSignal.reason as Error).name);
    if (ctx.abortSignal.aborted) tell();
    else ctx.abortSignal.addEventListener('abort', tell);
  });

const shows = (chat: Chat, requestId: string, text: string) =>
  becomes(chat.view, () => answerIn(chat, requestId) === text);

/** One turn of the event loop: what was to be sent is sent. */
const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an echo in a few lines streams to every client, word by word', async () => {
  const { url, chat, other, attach } = await scene();
  await attach([
    assistant('bot', async (ctx) => {
      const id = await ctx.send('');
      for (const word of textOf(ctx.input[0] as never).split(' ')) await ctx.append(id, `${word} `);
    }),
  ]);
  const { turn } = await chat.start('the quick brown fox');
  expect(await endOf(other, turn.requestId)).toMatchObject({ status: 'completed' });
  await endOf(chat, turn.requestId);
  expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual([
    'the quick brown fox',
    'the quick brown fox ',
  ]);
});

test('CON-1: an identity that is no agent is refused with its reason, and the agent stays away', async () => {
  const { url } = await startServer();
  const bot = assistant('bot', () => undefined);
  const agent = attachAgent({ url, agentId: 'a', assistants: [bot], auth: { roles: ['user'] } });
  const { connection } = await becomes(agent.state, ({ connection }) => connection.status === 'closed');
  expect(connection).toMatchObject({ error: { code: 'forbidden' } });
});

describe('AGT-4: over connections that break', () => {
  test('AGT-1, AGT-4: an agent that is cut six times in one turn goes on, and nothing is doubled or lost', async () => {
    const { url, proxy, chat, other, attach } = await scene();
    let words = 0;
    const agent = await attach(
      [
        assistant('bot', async (ctx) => {
          const id = await ctx.send('');
          const steps = await ctx.send({ type: 'list', props: { items: [] } });
          for (; words < 120; words++) {
            await ctx.append(id, `${words} `);
            if (words % 10 === 0) await ctx.set(steps, `items.${words / 10}`, words);
            await turnOfLoop();
          }
        }),
      ],
      { flushMs: 0 },
    );
    // Acknowledgements are what is lost: the server has what the agent sends again.
    let cuts = 6;
    let acks = 0;
    proxy.fate = (frame) => (frame.includes('"data":{"seq":') && ++acks % 8 === 0 && cuts-- > 0 ? 'cut' : 'pass');
    const { turn } = await chat.start('go');
    expect(await endOf(other, turn.requestId)).toMatchObject({ status: 'completed', attempt: 1 });
    await endOf(chat, turn.requestId);
    expect(proxy.connections).toBe(7);
    const [, text, list] = await expectSameViews(url, chat, other);
    expect(text && textOf(text)).toBe(Array.from({ length: 120 }, (_, word) => `${word} `).join(''));
    expect(list?.props['items']).toEqual(Array.from({ length: 12 }, (_, tenth) => tenth * 10));
    await becomes(agent.state, ({ running, attached }) => running === 0 && attached);
  });

  test('AGT-4: the end of a turn whose answer is lost is told again, and the turn ends once', async () => {
    const { url, proxy, chat, other, attach } = await scene();
    const agent = await attach([assistant('bot', async (ctx) => void (await ctx.send('all of it')))]);
    let cuts = 1;
    proxy.fate = (frame) => (frame.includes('"persisted":true') && cuts-- > 0 ? 'cut' : 'pass');
    const { turn } = await chat.start('go');
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'completed', stopReason: null });
    await becomes(agent.state, ({ running, attached }) => running === 0 && attached);
    expect(proxy.connections).toBe(2);
    expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual(['go', 'all of it']);
  });

  test('AGT-4: an agent that stays away longer than the grace has lost its turn, and hears of it when it is back', async () => {
    const { proxy, chat, attach } = await scene({ AGENT_GRACE_MS: '50' });
    const bot = held();
    const agent = await attach([bot.assistant]);
    const { turn } = await chat.start('go');
    const { ctx } = await bot.next();
    await ctx.send('so far');
    proxy.isUp = false;
    proxy.cut();
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'agent_lost' });
    proxy.isUp = true;
    expect(await aborted(ctx)).toBe('agent_lost');
    await expect(ctx.send('too late')).rejects.toMatchObject({ code: 'turn_ended' });
    expect(answerIn(chat, turn.requestId)).toBe('so far');
    const resumed = await chat.resume();
    expect(resumed.turn).toMatchObject({ requestId: turn.requestId, attempt: 2 });
    const again = await bot.next(1);
    expect(again.ctx.resume?.messages.map(textOf)).toEqual(['so far']);
    await again.ctx.send('anew');
    again.done.resolve(null);
    await endOf(chat, turn.requestId, 2);
    expect(answerIn(chat, turn.requestId)).toBe('anew');
    await becomes(agent.state, ({ running }) => running === 0);
  });

  test('AGT-4: an agent killed and started again under its name takes over: the turn is interrupted, and resumed by it', async () => {
    const { url, proxy, chat, other, attach } = await scene();
    const before = held();
    const killed = await attach([before.assistant], { agentId: 'worker' });
    const { turn } = await chat.start('go');
    const { ctx } = await before.next();
    await ctx.send('half');
    // As a machine that is gone: nobody tells the server.
    proxy.freeze();
    const after = held();
    const replacing = await attach([after.assistant], { agentId: 'worker' });
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'interrupted' });
    await chat.resume({ requestId: turn.requestId });
    const run = await after.next();
    expect(run.ctx.resume?.messages.map(textOf)).toEqual(['half']);
    // The old one comes back to life: it has been replaced, and nothing of it is taken.
    proxy.thaw();
    expect(await aborted(ctx)).toBe('replaced');
    await becomes(killed.state, ({ connection }) => connection.status === 'closed');
    await expect(ctx.send('zombie')).rejects.toMatchObject({ code: 'turn_ended' });
    await run.ctx.send('whole');
    run.done.resolve(null);
    await endOf(chat, turn.requestId, 2);
    await endOf(other, turn.requestId, 2);
    expect(replacing.state.getSnapshot()).toMatchObject({ attached: true });
    expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual(['go', 'whole']);
  });

  test('AGT-4, AGT-5: an agent that closes hands over: what runs may end, and the next turn goes to another', async () => {
    const { url, chat, other, attach } = await scene();
    const first = held();
    const leaving = await attach([first.assistant]);
    const { turn } = await chat.start('one');
    const run = await first.next();
    const second = held();
    await attach([second.assistant]);
    const closing = leaving.close();
    await becomes(leaving.state, ({ draining }) => draining);
    // With two to choose from, any that comes to the one that is leaving is passed on.
    const { turn: next } = await chat.start('two', { onBusy: 'parallel' });
    const taken = await second.next();
    await taken.ctx.send('by the second');
    taken.done.resolve(null);
    await run.ctx.send('by the first');
    run.done.resolve(null);
    await closing;
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'completed' });
    expect(await endOf(chat, next.requestId)).toMatchObject({ status: 'completed' });
    expect(first.runs).toHaveLength(1);
    await endOf(other, next.requestId);
    await expectSameViews(url, chat, other);
  });
});

test('AGT-6: at most 32 pushes are under way, and all of them arrive when the answers do', async () => {
  const { url, proxy, chat, other, attach } = await scene();
  const written = new Deferred<void>();
  await attach(
    [
      assistant('bot', async (ctx) => {
        const id = await ctx.send('');
        proxy.fate = (frame) => (frame.includes('"data":{"seq":') ? 'hold' : 'pass');
        for (let word = 1; word <= 100; word++) {
          await ctx.append(id, `${word} `);
          await turnOfLoop();
        }
        written.resolve();
      }),
    ],
    { flushMs: 0 },
  );
  const { turn } = await chat.start('go');
  await written.promise;
  await proxy.holds(32);
  const words = (count: number): string => Array.from({ length: count }, (_, word) => `${word + 1} `).join('');
  await shows(chat, turn.requestId, words(32));
  // A round trip later it is still so.
  await other.update({ title: 'still' });
  expect(answerIn(chat, turn.requestId)).toBe(words(32));
  expect(proxy.held).toBe(32);
  proxy.release();
  await endOf(chat, turn.requestId);
  expect(answerIn(chat, turn.requestId)).toBe(words(100));
  await endOf(other, turn.requestId);
  await expectSameViews(url, chat, other);
});

describe('the end of a turn', () => {
  test('C14, C19: a stop fires the abort signal with its reason; what the assistant sends afterwards is refused and seen by nobody', async () => {
    const { url, chat, other, attach } = await scene();
    const bot = held();
    const agent = await attach([bot.assistant]);
    const { turn } = await chat.start('go');
    const { ctx, done } = await bot.next();
    const id = await ctx.send('seen');
    await other.stop(turn.requestId);
    expect(await aborted(ctx)).toBe('stopped');
    await expect(ctx.append(id, ' unseen')).rejects.toMatchObject({ code: 'turn_ended' });
    await expect(ctx.send('unseen')).rejects.toMatchObject({ code: 'turn_ended' });
    // Not waited for: no unhandled rejection ends the process.
    void ctx.append(id, ' unseen');
    done.resolve(null);
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    await becomes(agent.state, ({ running }) => running === 0);
    expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual(['go', 'seen']);
  });

  test('C25, CMD-3: deleting a chat aborts its agent, ends the views and leaves no turn behind', async () => {
    const { chat, other, attach } = await scene();
    const bot = held();
    const agent = await attach([bot.assistant]);
    await chat.start('go');
    const { ctx } = await bot.next();
    await ctx.send('text');
    await chat.delete();
    expect(await aborted(ctx)).toBe('deleted');
    for (const view of [chat.view, other.view]) await becomes(view, ({ reason }) => reason === 'deleted');
    expect(messagesOf(other)).toEqual([]);
    await becomes(agent.state, ({ running }) => running === 0);
    await expect(ctx.send('late')).rejects.toMatchObject({ code: 'turn_ended' });
  });

  test('what is thrown is the error of the turn, with the text so far; a thing that is no error too', async () => {
    const { url, chat, other, attach } = await scene();
    const thrown: unknown[] = [new Error('the model is on fire'), 'a string', new TypeError('')];
    await attach([
      assistant('bot', async (ctx) => {
        await ctx.send('so far');
        throw thrown.shift();
      }),
    ]);
    for (const message of ['the model is on fire', 'a string', 'TypeError']) {
      const { turn } = await chat.start('go');
      const error = { code: 'error', message };
      expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'failed', stopReason: 'error', error });
      expect(answerIn(chat, turn.requestId)).toBe('so far');
      await endOf(other, turn.requestId);
    }
    await expectSameViews(url, chat, other);
  });

  test('TRN-6: what was pushed and not waited for is in before the end; what comes after the return is refused', async () => {
    const { url, chat, other, attach } = await scene();
    let leaked: Context | null = null;
    await attach([
      assistant('bot', (ctx) => {
        leaked = ctx;
        void ctx.send({ type: 'text', messageId: 'message-of-the-agent-1', props: { content: 'one' } });
        void ctx.append('message-of-the-agent-1', ' two');
        return { anything: [1, 2] };
      }),
    ]);
    const { turn } = await chat.start('go');
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'completed' });
    await endOf(other, turn.requestId);
    await expect((leaked as unknown as Context).send('three')).rejects.toMatchObject({ code: 'turn_ended' });
    expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual(['go', 'one two']);
  });

  test('AGT-2: a refused op is told to its caller alone, and the turn goes on', async () => {
    const { url, chat, other, attach } = await scene();
    const refused: unknown[] = [];
    await attach([
      assistant('bot', async (ctx) => {
        const [id] = await Promise.all([
          ctx.send('kept'),
          ctx.append('message-that-nobody-sent', 'x').catch((error: unknown) => refused.push(error)),
          ctx.send('kept too'),
        ]);
        await ctx.append(id, '!');
      }),
    ]);
    const { turn } = await chat.start('go');
    expect(await endOf(chat, turn.requestId)).toMatchObject({ status: 'completed' });
    expect(refused).toMatchObject([{ code: 'bad_request', details: { index: 0 } }]);
    await endOf(other, turn.requestId);
    expect((await expectSameViews(url, chat, other)).map(textOf)).toEqual(['go', 'kept!', 'kept too']);
  });
});

describe('several assistants and turns of its own', () => {
  test('one agent serves several assistants at once, each turn by its own', async () => {
    const { url, client, chat, attach } = await scene();
    const say = (assistantId: string): Assistant =>
      assistant(assistantId, async (ctx) => void (await ctx.send(`${ctx.turn.assistantId} says ${assistantId}`)));
    await attach([say('bot'), say('cat'), say('dog')]);
    await client.call('chat:get', { chatId: chat.chatId });
    for (const assistantId of ['dog', 'cat', 'bot', 'dog']) {
      const { turn } = await chat.start('go', { assistantId });
      await endOf(chat, turn.requestId);
      expect(answerIn(chat, turn.requestId)).toBe(`${assistantId} says ${assistantId}`);
    }
    await expectSameViews(url, chat);
  });

  test('openTurn: a background turn of the agent streams into a chat that it creates for a person; its output comes back', async () => {
    const { url, client, attach } = await scene();
    const agent = await attach([assistant('bot', () => undefined)]);
    const chat = client.chat(client.newId());
    const opening = { chatId: chat.chatId, assistantId: 'bot', createChat: { createdBy: 'local', title: 'News' } };
    const release = new Deferred<void>();
    const opened1 = await agent.openTurn(opening, async (ctx) => {
      const id = await ctx.send('news: ');
      await release.promise;
      await ctx.append(id, 'rain');
      return { mood: 'grey' };
    });
    expect(opened1.chat).toMatchObject({ title: 'News', createdBy: 'local' });
    chat.open();
    await shows(chat, opened1.turn.requestId, 'news: ');
    expect(chat.view.getSnapshot()).toMatchObject({ isBusy: false, running: null });
    release.resolve();
    expect(await opened1.ended).toMatchObject({
      status: 'completed',
      output: { mood: 'grey' },
      persisted: true,
      turn: { background: true, status: 'completed' },
    });
    await endOf(chat, opened1.turn.requestId);
    expect((await expectSameViews(url, chat)).map(textOf)).toEqual(['news: rain']);
  });

  test('AGT-4: openTurn over a connection that breaks: opened once, and its stream goes on', async () => {
    const { url, proxy, chat, chatId, attach } = await scene();
    const agent = await attach([assistant('bot', () => undefined)]);
    let cuts = 1;
    proxy.fate = (frame) => (frame.includes('"data":{"turn":') && cuts-- > 0 ? 'cut' : 'pass');
    const { turn, ended } = await agent.openTurn({ chatId, assistantId: 'bot' }, async (ctx) => {
      const id = await ctx.send('one');
      proxy.cut();
      await ctx.append(id, ' two');
    });
    expect(await ended).toMatchObject({ status: 'completed' });
    await endOf(chat, turn.requestId);
    expect(proxy.connections).toBe(3);
    expect((await expectSameViews(url, chat)).map(textOf)).toEqual(['one two']);
    await expect(agent.openTurn({ chatId, assistantId: 'other' }, () => undefined)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});
