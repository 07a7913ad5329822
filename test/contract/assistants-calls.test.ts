import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant } from '../../assistant/index.js';
import type { Json, Message } from '../../protocol/index.js';
import { httpHistory } from '../harness/consistent.js';
import { temporaryDirectory } from '../harness/server.js';
import { until } from '../harness/until.js';
import { hosts } from './assistant-hosts.js';
import { asked, forever, shown, storedProps } from './assistant-watch.js';

/** What assistants ask of each other: handing over, and calls on the side. */

const assistant = (assistantId: string, run: Assistant['run']): Assistant => defineAssistant({ assistantId, run });

const textsOf = (messages: readonly Pick<Message, 'props'>[]): unknown[] =>
  messages.map(({ props }) => props['content']);

/** Says and gives what it is asked; `bad …` fails, `slow …` never ends. */
const child = (ended: string[] = []): Assistant =>
  assistant('child', async (ctx) => {
    const name = asked(ctx);
    const id = await ctx.send(`${name} `);
    await ctx.append(id, 'said');
    if (name.startsWith('slow')) await forever();
    if (name.startsWith('bad')) throw Object.assign(new Error(`it was ${name}`), { code: 'bad_name' });
    ended.push(name);
    ctx.addUsage({ tokens: 10, calls: 1 });
    return { name };
  });

const to = (...names: string[]) => names.map((messages) => ({ assistantId: 'child', messages }));

describe.each(hosts)('$name', ({ host }) => {
  test('AGT-8: delegate: the same turn, shown as its own, a stack below; texts, objects and ctx.input are input', async () => {
    const inputs: unknown[] = [];
    const outputs: Json[] = [];
    const hears = assistant('hears', async (ctx) => {
      inputs.push(ctx.input.map(({ role, type, props }) => ({ role, type, props })));
      expect([ctx.turn.assistantId, ctx.user.userId]).toEqual(['root', ctx.turn.createdBy]);
      await ctx.send('heard');
      return ctx.input.length;
    });
    const root = assistant('root', async (ctx) => {
      outputs.push(await ctx.delegate('hears', ctx.input));
      outputs.push(await ctx.delegate('hears', 'a text'));
      outputs.push(await ctx.delegate('hears', ['one', { type: 'image', props: { url: 'http://x/y.png' } }]));
    });
    const scene = await host([root, hears]);
    const { requestId } = await scene.ask('root', 'go');
    const text = (content: string): object => ({ role: 'user', type: 'text', props: { content } });
    expect(inputs).toEqual([
      [text('go')],
      [text('a text')],
      [text('one'), { role: 'user', type: 'image', props: { url: 'http://x/y.png' } }],
    ]);
    expect(outputs).toEqual([1, 1, 2]);
    const messages = await scene.messages(requestId);
    expect(messages.map(({ assistantId, state }) => [assistantId, state])).toEqual(Array(3).fill(['hears', 'closed']));
  });

  test('AGT-8: a called one that fails: its code and sentence come out, its messages stand closed', async () => {
    const caught: unknown[] = [];
    const root = assistant('root', async (ctx) => {
      const keep = (error: Error & { code: string }): unknown => caught.push([error.name, error.code, error.message]);
      await ctx.delegate('child', 'bad one').catch(keep);
      await ctx.call('child', 'bad two').catch(keep);
      await ctx.callAll(to('fine', 'bad three')).catch(keep);
      await ctx.callRace(to('bad four', 'slow')).catch(keep);
      await ctx.callAny(to('bad five', 'bad six')).catch(keep);
      await ctx.callAny([]).catch(keep);
      await ctx.send('went on');
    });
    const scene = await host([root, child()]);
    const { requestId, status } = await scene.ask('root', 'go');
    expect(status).toBe('completed');
    const failed = (name: string): string[] => ['AssistantError', 'bad_name', `child: it was ${name}`];
    expect(caught.slice(0, 4)).toEqual(['bad one', 'bad two', 'bad three', 'bad four'].map(failed));
    expect(caught[4]).toEqual(['AssistantError', 'all_failed', 'child: it was bad five; child: it was bad six']);
    expect(caught[5]).toEqual(['AssistantError', 'all_failed', 'Nobody was asked.']);
    expect(await scene.answers(requestId)).toEqual(['bad one said', 'went on']);
    expect((await scene.messages(requestId)).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  test('a hidden call: nobody sees or stores what it sends; its answer carries it, closed', async () => {
    const dataDir = temporaryDirectory();
    const answers: { output: Json; messages: readonly Message[] }[] = [];
    const middle = assistant('middle', async (ctx) => {
      const { messages } = await ctx.call('child', 'deeper');
      const output = await ctx.delegate('child', 'within');
      await ctx.send({ type: 'image', props: { url: 'http://x/secret.png' } });
      await ctx.signal('secret', {});
      return [output, ...textsOf(messages)] as Json;
    });
    const root = assistant('root', async (ctx) => {
      await ctx.send('before');
      answers.push(await ctx.call('child', 'alone'));
      answers.push(await ctx.call('middle', 'nested'));
      await ctx.send('after');
    });
    const scene = await host([root, child(), middle], { dataDir });
    const view = await shown(scene);
    const { requestId } = await scene.ask('root', 'go');
    expect(answers).toMatchObject([
      { output: { name: 'alone' }, messages: [{ type: 'text', props: { content: 'alone said' }, state: 'closed' }] },
      {
        output: [{ name: 'within' }, 'deeper said'],
        messages: [
          { props: { content: 'within said' }, state: 'closed', assistantId: 'child' },
          { type: 'image', state: 'closed', assistantId: 'middle' },
        ],
      },
    ]);
    expect(await scene.answers(requestId)).toEqual(['before', 'after']);
    expect(textsOf(await httpHistory(scene.url, scene.chatId))).toEqual(['go', 'before', 'after']);
    expect(await storedProps(dataDir)).toEqual(['go', 'before', 'after'].map((content) => ({ content })));
    await scene.shows('beforeafter');
    expect(view.moments.flat().filter((text) => !['before', 'after'].includes(text))).toEqual([]);
    // Numbers of the chat are not used up by what nobody sees.
    expect((await scene.messages(requestId)).map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  test('a call with show: true, and what it delegates to, is shown and stored; its answer holds no messages', async () => {
    let answer: unknown;
    const middle = assistant('middle', (ctx) => ctx.delegate('child', 'within'));
    const root = assistant('root', async (ctx) => {
      answer = [
        await ctx.call('middle', 'go', { show: true }),
        await ctx.callAll([{ assistantId: 'child', messages: 'all', show: true }]),
      ];
    });
    const scene = await host([root, child(), middle]);
    const { requestId } = await scene.ask('root', 'go');
    expect(answer).toEqual([
      { assistantId: 'middle', output: { name: 'within' }, messages: [] },
      [{ assistantId: 'child', output: { name: 'all' }, messages: [] }],
    ]);
    expect(await scene.answers(requestId)).toEqual(['within said', 'all said']);
  });

  test('callAll: answers in the order of the requests, whatever ends first', async () => {
    const order: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const waits = assistant('waits', async (ctx) => {
      const name = asked(ctx);
      if (name === 'first') await held;
      order.push(name);
      if (order.length === 2) release();
      await ctx.send(name);
      return name;
    });
    let answers: unknown;
    const root = assistant('root', async (ctx) => {
      const asked = ['first', 'second', 'third'].map((messages) => ({ assistantId: 'waits', messages }));
      answers = (await ctx.callAll(asked)).map(({ output, messages }) => [output, textsOf(messages)]);
      expect(await ctx.callAll([])).toEqual([]);
    });
    const scene = await host([root, waits]);
    expect(await scene.ask('root', 'go')).toMatchObject({ status: 'completed', error: null });
    expect(order.at(-1)).toBe('first');
    expect(answers).toEqual(['first', 'second', 'third'].map((name) => [name, [name]]));
  });

  test('callAny: the first success; callRace: the first end; what the losers do does not matter', async () => {
    const dataDir = temporaryDirectory();
    const answers: unknown[] = [];
    const root = assistant('root', async (ctx) => {
      const of = ({ output, messages }: { output: Json; messages: readonly Message[] }) => [output, textsOf(messages)];
      answers.push(of(await ctx.callAny(to('bad', 'slow', 'good'))));
      answers.push(of(await ctx.callRace(to('slow', 'quick'))));
      await ctx.send('done');
    });
    const scene = await host([root, child()], { dataDir });
    const turn = await scene.ask('root', 'go');
    expect(turn).toMatchObject({ status: 'completed', error: null });
    expect(answers).toEqual([
      [{ name: 'good' }, ['good said']],
      [{ name: 'quick' }, ['quick said']],
    ]);
    expect(await storedProps(dataDir)).toEqual([{ content: 'go' }, { content: 'done' }]);
    const steps = await scene.steps(turn.requestId);
    const choices = steps.filter(({ stackDepth, input }) => stackDepth === 0 && Object.hasOwn(input as object, 'any'));
    expect(choices.map(({ status }) => status)).toEqual(['completed']);
  });

  test('AGT-8: what a called one writes into the space is there when it has ended, and the other way round', async () => {
    const seen: unknown[] = [];
    const writer = assistant('writer', async (ctx) => {
      seen.push(ctx.space.snapshot());
      await ctx.space.set('from child', { deep: [1] });
      await ctx.space.delete('given');
    });
    const root = assistant('root', async (ctx) => {
      await ctx.space.set('given', 'by root');
      await ctx.delegate('writer', 'go');
      seen.push(ctx.space.snapshot());
      await ctx.space.set('given', 'again');
      await ctx.call('writer', 'go');
      seen.push(ctx.space.getDel('from child'), ctx.space.snapshot());
      // Ops are taken in the order in which they are made, awaited or not.
      void ctx.space.set('given', 'unawaited');
      await ctx.delegate('writer', 'go');
    });
    const scene = await host([root, writer]);
    expect(await scene.ask('root', 'go')).toMatchObject({ status: 'completed' });
    const deep = { 'from child': { deep: [1] } };
    expect(seen).toEqual([
      { given: 'by root' },
      deep,
      { ...deep, given: 'again' },
      { deep: [1] },
      {},
      { given: 'unawaited' },
    ]);
  });

  test('AGT-8: what is written while calls end is not lost on the one who wrote it, waited for or not', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const worker = assistant('worker', (ctx) => ctx.space.set(`by ${asked(ctx)}`, true));
    const root = assistant('root', async (ctx) => {
      const before = names.map((name) => ctx.delegate('worker', name));
      for (let count = 1, open = true; open; count++) {
        void ctx.space.set('count', count);
        const tick = new Promise<boolean>((resolve) => setImmediate(resolve, true));
        open = await Promise.race([Promise.all(before).then(() => false), tick]);
        expect(ctx.space.get('count')).toBe(count);
      }
      await Promise.all(
        names.map(async (name) => {
          await ctx.delegate('worker', name);
          expect(ctx.space.get(`by ${name}`)).toBe(true);
          await ctx.space.set(name, true);
        }),
      );
      expect(Object.keys(ctx.space.snapshot()).sort()).toEqual(
        [...names, ...names.map((name) => `by ${name}`), 'count'].sort(),
      );
    });
    const scene = await host([root, worker]);
    expect(await scene.ask('root', 'go')).toMatchObject({ status: 'completed', error: null });
  });

  test('usage of all that were called, failed ones too, adds up in the usage of the turn, also over attempts', async () => {
    const counts = assistant('counts', async (ctx) => {
      ctx.addUsage({ tokens: 100, model: 'm' });
      const { output } = await ctx.call('child', 'deep');
      return output;
    });
    const root = assistant('root', async (ctx) => {
      ctx.addUsage({ tokens: 1 });
      await ctx.delegate('counts', 'go');
      await ctx.callAll(to('a', 'b'));
      await ctx.step('hook_next', null, () => {
        if (ctx.turn.attempt === 1) throw new Error('again');
      });
      await ctx.call('child', 'c');
    });
    const scene = await host([root, child(), counts]);
    const { requestId, usage } = await scene.ask('root', 'go');
    expect(usage).toEqual({ tokens: 131, calls: 3 });
    expect((await scene.resume(requestId)).usage).toEqual({ tokens: 141, calls: 4 });
  });

  test('AGT-8: a call that is left behind ends with its turn, and nothing of it is stored', async () => {
    const dataDir = temporaryDirectory();
    const aborted: string[] = [];
    const late = assistant('late', async (ctx) => {
      await ctx.send('begun');
      await new Promise<void>((resolve) => ctx.abortSignal.addEventListener('abort', () => resolve()));
      aborted.push(asked(ctx));
      await ctx.send('too late');
    });
    const root = assistant('root', async (ctx) => {
      void ctx.call('late', 'hidden').catch(() => undefined);
      void ctx.delegate('late', 'shown').catch(() => undefined);
      await ctx.send('here');
      await ctx.step('tool', null, () =>
        until(async () => (await view).messages().length === 2, 'both messages').then(() => null),
      );
    });
    const scene = await host([root, late], { dataDir });
    const view = shown(scene);
    await view;
    const { requestId, status } = await scene.ask('root', 'go');
    expect(status).toBe('completed');
    await until(() => aborted.length === 2, 'the abort of both');
    expect((await scene.answers(requestId)).sort()).toEqual(['begun', 'here']);
    expect(await storedProps(dataDir)).toHaveLength(3);
  });
});
