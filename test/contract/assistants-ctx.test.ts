import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant, type Context } from '../../assistant/index.js';
import type { Json, Message } from '../../protocol/index.js';
import { uid } from '../harness/peer.js';
import { clientOf, expectSameViews, opened } from '../harness/sdk.js';
import { temporaryDirectory } from '../harness/server.js';
import { until } from '../harness/until.js';
import { hosts } from './assistant-hosts.js';
import { storedProps } from './assistant-watch.js';

/** What an assistant does with `ctx`: messages, signals, space. */

const worker = (run: Assistant['run']): Assistant => defineAssistant({ assistantId: 'worker', run });

const propsOf = (messages: readonly Message[]): unknown[] => messages.map(({ props }) => props);

describe.each(hosts)('$name', ({ host }) => {
  test('seed 67: a text, any type, one after the other; nothing at all is refused with what is missing', async () => {
    const drafts = [
      { type: 'text', props: { content: 'object' } },
      { type: 'image', props: { url: 'http://x/y.png', alt: null } },
      { type: 'loading', props: { message: 'wait', done: false } },
      { type: 'my_own', props: { rows: [{ deep: [[1, 2.5, true, null]] }] } },
      { type: 'empty', props: {} },
    ];
    let refusal: unknown;
    const scene = await host([
      worker(async (ctx) => {
        expect(await ctx.send('a text')).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
        for (const draft of drafts) await ctx.send(draft);
        refusal = await ctx.send(undefined as never).catch((error: unknown) => error);
      }),
    ]);
    const { requestId, status } = await scene.ask('worker', 'go');
    expect(status).toBe('completed');
    expect(refusal).toMatchObject({ code: 'bad_request', message: expect.stringMatching(/\btype\b/) as string });
    const messages = await scene.messages(requestId);
    expect(messages.map(({ type, props }) => ({ type, props }))).toEqual([
      { type: 'text', props: { content: 'a text' } },
      ...drafts,
    ]);
    const common = { role: 'assistant', assistantId: 'worker', state: 'closed', stepId: null, blockId: null };
    expect(messages).toEqual(
      messages.map((_, index) => expect.objectContaining({ ...common, sequence: index + 2 }) as Message),
    );
  });

  test('seed 68: a message is open from its first word until it is ended; two that stream at once stay apart', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const scene = await host([
      worker(async (ctx) => {
        const [left, right] = await Promise.all([ctx.send(''), ctx.send('')]);
        for (const word of ['one ', 'two ', 'three ', 'four']) {
          await ctx.append(left, word);
          await ctx.append(right, word.toUpperCase());
        }
        await ctx.end(left);
        await held;
      }),
    ]);
    const { requestId, turn } = await scene.start('worker', 'go');
    const states = async (): Promise<string[]> => (await scene.messages(requestId)).map(({ state }) => state);
    await until(async () => (await states()).includes('closed'), 'the end of the first');
    expect(await states()).toEqual(['closed', 'open']);
    await scene.shows('one two three fourONE TWO THREE FOUR');
    release();
    await turn;
    expect(await states()).toEqual(['closed', 'closed']);
    expect(await scene.answers(requestId)).toEqual(['one two three four', 'ONE TWO THREE FOUR']);
  });

  test('seed 69: what replaces, appends, merges and sets leaves exactly what it says, live, in history and stored', async () => {
    const dataDir = temporaryDirectory();
    const scene = await host(
      [
        worker(async (ctx) => {
          const replaced = await ctx.send({
            type: 'text',
            props: { content: 'draft', note: 1 },
            blockId: 'b1',
            threadId: 't1',
          });
          await ctx.append(replaced, ' of it');
          await ctx.replace(replaced, 'Final');
          await ctx.append(replaced, '.');
          const table = await ctx.send({ type: 'table', props: { rows: [] }, metadata: { source: 'db' } });
          await ctx.set(table, 'rows.0', { text: 'first' });
          await ctx.append(table, ' row', 'rows.0.text');
          await ctx.append(table, '!', 'props.rows.0.text');
          await ctx.set(table, 'props.title', 'Rows');
          await ctx.merge(table, { total: { count: 1, old: true } });
          await ctx.merge(table, { count: 2, old: null }, 'total');
          await ctx.merge(table, { more: [1] }, 'props.total');
          await ctx.append(table, 'made', 'foot.note');
          const retyped = await ctx.send('loading');
          await ctx.replace(retyped, { type: 'image', props: { url: 'u' } });
          await ctx.end(retyped);
        }),
      ],
      { dataDir },
    );
    const chat = await opened(clientOf(scene.url), scene.chatId);
    const { requestId } = await scene.ask('worker', 'go');
    const messages = await scene.messages(requestId);
    const props = [
      { content: 'Final.' },
      {
        rows: [{ text: 'first row!' }],
        title: 'Rows',
        total: { count: 2, old: null, more: [1] },
        foot: { note: 'made' },
      },
      { url: 'u' },
    ];
    expect(propsOf(messages)).toEqual(props);
    expect(messages).toMatchObject([
      { type: 'text', blockId: 'b1', threadId: 't1', metadata: null },
      { type: 'table', blockId: null, threadId: null, metadata: { source: 'db' } },
      { type: 'image' },
    ]);
    expect((await storedProps(dataDir)).slice(1)).toEqual(props);
    expect(propsOf(await expectSameViews(scene.url, chat)).slice(1)).toEqual(props);
  });

  test('seed 70: three hundred messages sent at once have as many ids; one may be given, once', async () => {
    const ids: string[] = [];
    const mine = uid('message');
    const scene = await host([
      worker(async (ctx) => {
        const many = (count: number): Promise<string>[] =>
          Array.from({ length: count }, (_, index) => ctx.send(String(index)));
        ids.push(...(await Promise.all(many(100))));
        await Promise.all(
          [1, 2].map((n) => ctx.step('tool', n, async () => void ids.push(...(await Promise.all(many(100)))))),
        );
        ids.push(await ctx.send({ type: 'text', messageId: mine, props: {} }));
      }),
    ]);
    const { turn } = await scene.start('worker', 'go');
    expect((await turn).error).toBeNull();
    expect(new Set(ids).size).toBe(301);
    expect(ids.at(-1)).toBe(mine);
  });

  test('seed 71: the first turn makes its chat and answers in it; the same again finds both', async () => {
    const scene = await host([
      worker(async (ctx) => void (await ctx.send(`${ctx.chat.chatId} for ${ctx.user.userId}`))),
    ]);
    const client = clientOf(scene.url);
    const args = { chatId: uid('chat'), requestId: uid('turn'), assistantId: 'worker', input: 'go', createChat: true };
    const first = await client.call('turn:start', args);
    expect(first).toMatchObject({ duplicate: false });
    expect(await client.call('turn:start', args)).toMatchObject({
      duplicate: true,
      turn: { requestId: args.requestId },
    });
    const chat = await opened(client, args.chatId);
    await until(() => chat.view.getSnapshot().turns.get(args.requestId)?.status === 'completed', 'the answer');
    expect(propsOf(chat.view.getSnapshot().messages)).toEqual([
      { content: 'go' },
      { content: `${args.chatId} for local` },
    ]);
  });

  test('seed 72: messages and steps of all that are called stand in the one buffer of the root, in the order of sending', async () => {
    const child = defineAssistant({
      assistantId: 'child',
      run: (ctx) => ctx.step('tool', 'child', async () => void (await ctx.send('child'))),
    });
    const scene = await host([
      worker(async (ctx) => {
        await ctx.send('before');
        await ctx.delegate('child', 'go');
        await ctx.send('after');
      }),
      child,
    ]);
    const { requestId } = await scene.ask('worker', 'go');
    const messages = await scene.messages(requestId);
    expect(messages.map(({ props, sequence, assistantId }) => [props['content'], sequence, assistantId])).toEqual([
      ['before', 2, 'worker'],
      ['child', 3, 'child'],
      ['after', 4, 'worker'],
    ]);
    expect((await scene.steps(requestId)).map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'delegate'],
      [2, 'tool'],
    ]);
  });

  test('DAT-1: a pair that is cut between two appends is one character, wherever it is cut', async () => {
    const text = 'a😀b👩‍👩‍👧c';
    const scene = await host([
      worker(async (ctx) => {
        const id = await ctx.send('');
        for (let at = 0; at < text.length; at++) await ctx.append(id, text.charAt(at));
        await ctx.end(id);
        const broken = await ctx.send('');
        await ctx.append(broken, 'x\ud83d');
        await ctx.end(broken);
      }),
    ]);
    const { requestId } = await scene.ask('worker', 'go');
    expect(await scene.answers(requestId)).toEqual([text, 'x\ufffd']);
  });

  test('SUB-8: a signal is heard by those who are connected, in its place, and stored nowhere', async () => {
    const dataDir = temporaryDirectory();
    const scene = await host(
      [
        worker(async (ctx) => {
          await ctx.signal('searching', { query: 'cats' });
          await ctx.signal('found');
          await ctx.send('done');
        }),
      ],
      { dataDir },
    );
    const chat = await opened(clientOf(scene.url), scene.chatId);
    const heard: unknown[] = [];
    chat.signals(({ name, data, requestId }) => heard.push([name, data, requestId]));
    const { requestId } = await scene.ask('worker', 'go');
    await until(() => heard.length === 2, 'both signals');
    expect(heard).toEqual([
      ['searching', { query: 'cats' }, requestId],
      ['found', null, requestId],
    ]);
    expect(await storedProps(dataDir)).toEqual([{ content: 'go' }, { content: 'done' }]);
  });

  test('AGT-7: ctx tells of its turn: input, history, metadata, user, chat; a change of them is nobody else’s', async () => {
    const seen: unknown[] = [];
    const scene = await host([
      worker(async (ctx) => {
        const { input, metadata, user, turn, chat, resume } = ctx;
        seen.push([
          ctx.history().map(({ role, props }) => [role, props['content']]),
          input.map(({ role, props }) => [role, props['content']]),
          { ...metadata },
          user,
          [turn.attempt, chat.chatId === scene.chatId, resume],
        ]);
        (metadata as { hint?: string }).hint = 'changed';
        await ctx.send(`answer ${ctx.history().length}`);
      }),
    ]);
    await (
      await scene.start(
        'worker',
        ['one', 'two'].map((content) => ({ type: 'text', props: { content } })),
        { hint: 'h' },
      )
    ).turn;
    const { requestId } = await scene.ask('worker', 'three');
    const user = { userId: 'local', teamId: null, tenantId: null };
    const asked = ['one', 'two'].map((content) => ['user', content]);
    expect(seen).toEqual([
      [[], asked, { hint: 'h' }, user, [1, true, null]],
      [[...asked, ['assistant', 'answer 0']], [['user', 'three']], {}, user, [1, true, null]],
    ]);
    expect(await scene.answers(requestId)).toEqual(['answer 3']);
  });

  test('space: get, set, getDel, delete, snapshot and restore; values are copied both ways', async () => {
    const scene = await host([
      worker(async ({ space }: Context) => {
        const list = [1, { deep: true }];
        await space.set('list', list);
        list.push(2);
        const read = space.get('list') as Json[];
        read.push(3);
        const snapshot = space.snapshot() as { list: Json[] };
        snapshot.list.push(4);
        expect(space.get('list')).toEqual([1, { deep: true }]);
        expect([space.get('none'), space.getDel('none')]).toEqual([undefined, undefined]);
        await space.set('once', 'ticket');
        expect([space.getDel('once'), space.get('once'), space.getDel('once')]).toEqual([
          'ticket',
          undefined,
          undefined,
        ]);
        await space.set('toString', null);
        expect([space.get('toString'), space.get('valueOf')]).toEqual([null, undefined]);
        const before = space.snapshot();
        await space.set('list', 'other');
        await space.delete('toString');
        await space.set('stays', { a: undefined, b: 1 } as never);
        await space.restore(before);
        expect(space.snapshot()).toEqual({ ...before, stays: { b: 1 } });
      }),
    ]);
    expect(await scene.ask('worker', 'go')).toMatchObject({ status: 'completed', error: null });
  });

  test('space: a step records what it was when the step began, whatever happens to it afterwards', async () => {
    const scene = await host([
      worker(async (ctx) => {
        await ctx.step('tool', 0, () => null);
        const value = { list: [1] };
        await ctx.space.set('a', value);
        await ctx.step('tool', 1, async () => {
          await ctx.space.set('a', { list: [1, 2] });
          await ctx.step('tool', 2, () => ctx.space.delete('a'));
          void ctx.space.set('b', 1);
        });
        await ctx.step('tool', 3, () => null);
      }),
    ]);
    const { requestId } = await scene.ask('worker', 'go');
    expect((await scene.steps(requestId)).map(({ spaceSnapshot }) => spaceSnapshot)).toEqual([
      {},
      { a: { list: [1] } },
      { a: { list: [1, 2] } },
      { b: 1 },
    ]);
  });
});
