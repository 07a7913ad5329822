import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { Json, JsonObject, OpInput } from '../../protocol/index.js';
import type { Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Refused, uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { startServer } from '../harness/server.js';
import { scene } from './scene.js';

/** So many objects (or lists), one in the other. */
const nested = (levels: number, wrap: (inner: Json) => Json = (inner) => ({ a: inner })): Json => {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
};
const object = (levels: number) => nested(levels) as JsonObject;

const refusal = async (work: Promise<unknown>) => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refused) return error.error;
    throw error;
  }
  throw new Error('nothing was refused');
};

/** Props after ops on a message that began with `props`; the refusal's code where they were refused. */
async function after(run: Run, props: JsonObject, ...ops: Record<string, unknown>[]): Promise<JsonObject | string> {
  const messageId = uid('m');
  await run.push({ op: 'send', messageId, type: 'card', props });
  const seq = run.seq;
  try {
    await run.push(...ops.map((op) => ({ ...op, messageId }) as OpInput));
  } catch (error) {
    run.seq = seq;
    return (error as Refused).error.code;
  }
  const { messages } = await run.agent.do('message:list', {
    chatId: run.assignment?.chat.chatId,
    requestId: run.requestId,
  });
  return (messages as { messageId: string; props: JsonObject }[]).find((message) => message.messageId === messageId)!
    .props;
}

describe('DAT-2: what is JSON here', () => {
  test('DAT-2: 64 levels pass everywhere, 65 nowhere', async () => {
    const { url, person, chatId, ...here } = await scene();
    const run = await here.turn();
    const deep = object(64);
    await person.do('chat:update', { chatId, metadata: deep });
    const [messageId, stepId] = [uid('m'), uid('s')];
    await run.push(
      { op: 'space.set', key: 'k', value: deep },
      { op: 'step.start', stepId, type: 'tool', input: deep, metadata: deep },
      { op: 'send', messageId, type: 'card', props: deep, metadata: deep },
      { op: 'merge', messageId, value: { b: object(63) } },
      { op: 'set', messageId, path: 'c.d', value: object(62) },
      { op: 'step.end', stepId, status: 'completed', output: deep },
    );
    const tooDeep = object(65);
    const ops: OpInput[] = [
      { op: 'space.set', key: 'k', value: tooDeep },
      { op: 'step.start', stepId: uid('s'), type: 'tool', input: tooDeep },
      { op: 'step.start', stepId: uid('s'), type: 'tool', metadata: tooDeep },
      { op: 'send', type: 'card', props: tooDeep },
      { op: 'send', type: 'card', props: {}, metadata: tooDeep },
      { op: 'replace', messageId, props: tooDeep },
      { op: 'merge', messageId, value: { b: object(64) } },
      { op: 'merge', messageId, path: 'c', value: object(64) },
      { op: 'set', messageId, path: 'c.d', value: object(63) },
      { op: 'set', messageId, path: 'c', value: nested(64, (inner) => [inner]) },
      { op: 'signal', name: 'n', data: tooDeep },
    ];
    for (const op of ops) {
      run.seq++;
      expect(
        await run.agent.refused('turn:push', { ...run.frame, seq: run.seq--, ops: [op] }),
        JSON.stringify(op).slice(0, 60),
      ).toMatchObject({ code: 'bad_request', details: { index: 0 } });
    }
    for (const [command, args] of [
      ['chat:update', { chatId, metadata: tooDeep }],
      ['chat:create', { assistantId: 'bot', metadata: tooDeep }],
      ['turn:start', { chatId, input: { type: 'card', props: tooDeep } }],
      ['turn:start', { chatId, input: { type: 'card', props: {}, metadata: tooDeep } }],
      ['turn:start', { chatId, input: 'x', metadata: tooDeep }],
    ] as const) {
      expect(await person.refused(command, args), command).toMatchObject({ code: 'bad_request' });
    }
    await run.close('completed', { usage: deep });
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.at(-1)).toMatchObject({ props: { ...deep, b: object(63), c: { d: object(62) } }, metadata: deep });
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps).toMatchObject([{ input: deep, output: deep, metadata: deep, spaceSnapshot: { k: deep } }]);
  });

  test('DAT-2: keys that reach a prototype are refused wherever keys are', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const run = await here.turn();
    const raw = await RawSocket.open(here.url);
    for (const key of ['__proto__', 'prototype', 'constructor']) {
      const evil = `{"a":[{"${key}":{"polluted":1}}]}`;
      expect(await raw.ask('chat:update', `{"chatId":"${chatId}","metadata":${evil}}`)).toMatchObject({
        ok: false,
        error: { code: 'bad_request' },
      });
      expect(
        await raw.ask('turn:start', `{"chatId":"${chatId}","input":{"type":"text","props":${evil}}}`),
      ).toMatchObject({ ok: false, error: { code: 'bad_request' } });
      const ops = [
        { op: 'send', type: 'text', props: JSON.parse(evil) as JsonObject },
        { op: 'space.set', key: 'k', value: JSON.parse(evil) as Json },
        { op: 'space.set', key, value: 1 },
        { op: 'space.delete', key },
        { op: 'signal', name: 'n', data: JSON.parse(evil) as Json },
      ];
      for (const op of ops)
        expect(
          await run.agent.refused('turn:push', { ...run.frame, seq: 1, ops: [op] }),
          `${op.op} ${key}`,
        ).toMatchObject({ code: 'bad_request' });
      for (const path of [key, `a.${key}`, `${key}.polluted`, `props.${key}`]) {
        for (const op of [
          { op: 'set', path, value: 1 },
          { op: 'append', path, text: 'x' },
          { op: 'merge', path, value: {} },
        ]) {
          expect(await after(run, {}, op), `${op.op} ${path}`).toBe('bad_request');
        }
      }
      run.seq = 0;
      await person.do('turn:stop', { chatId, requestId: run.requestId });
      Object.assign(run, await here.turn(), {});
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('DAT-2: an assistant in the process cannot send what JSON has no word for', async () => {
    const outcomes: string[] = [];
    const shared = { deep: true };
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const bad: unknown[] = [
      NaN,
      Infinity,
      -Infinity,
      new Date(0),
      1n,
      Symbol('s'),
      () => 1,
      [undefined],
      new Map(),
      cyclic,
      nested(100_000),
      nested(100_000, (inner) => [inner]),
    ];
    const mixed = defineAssistant({
      assistantId: 'mixed',
      async run(ctx) {
        const messageId = await ctx.send({
          type: 'card',
          props: { ok: 1, gone: undefined as unknown as Json, twice: [shared, shared] },
        });
        for (const value of bad) {
          for (const work of [
            () => ctx.send({ type: 'card', props: { value: value as Json } }),
            () => ctx.set(messageId, 'x', value as Json),
            () => ctx.merge(messageId, { value: value as Json }),
          ]) {
            outcomes.push(
              await work().then(
                () => 'taken',
                (error: unknown) => (error as { code?: string }).code ?? String(error),
              ),
            );
          }
        }
      },
    });
    const { url } = await startServer({ assistants: [mixed] });
    const person = await new Person(url).open();
    const chatId = await person.createChat({ assistantId: 'mixed' });
    await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    expect((await person.ended(chatId, turn.requestId)).turn.status).toBe('completed');
    expect(outcomes).toEqual(outcomes.map(() => 'bad_request'));
    const history = await expectConsistent(url, chatId, [person]);
    expect(history.map(({ props }) => props)).toEqual([{ content: 'go' }, { ok: 1, twice: [shared, shared] }]);
  });

  test('C27: nesting without end, by raw frame and body, is refused and disturbs nobody', async () => {
    const here = await scene();
    const { url, chatId } = here;
    const run = await here.turn();
    const messageId = await run.send('');
    const raw = await RawSocket.open(url);
    let written = 0;
    for (const depth of [1000, 10_000, 150_000]) {
      for (const [open, shut] of [
        ['[', ']'],
        ['{"":', '}'],
      ] as const) {
        const deep = `${open.repeat(depth)}1${shut.repeat(depth)}`;
        for (const [command, args] of [
          ['chat:list', `[${deep}]`],
          ['chat:create', `{"assistantId":"bot","metadata":{"a":${deep}}}`],
          ['turn:start', `{"chatId":"${chatId}","input":{"type":"x","props":{"a":${deep}}}}`],
          ['turn:start', `{"chatId":"${chatId}","input":${deep}}`],
          ['chat:get', `{"chatId":${deep}}`],
          ['nothing', deep],
        ] as const) {
          expect(await raw.ask(command, args), `${command} ${depth}`).toMatchObject({
            ok: false,
            error: { code: 'bad_request' },
          });
          await run.append(messageId, `${++written},`);
        }
        const body = `{"assistantId":"bot","metadata":{"a":${deep}}}`;
        const answer = await fetch(`${url}/v1/chats`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        expect([answer.status, (await answer.json()) as object]).toMatchObject([
          400,
          { error: { code: 'bad_request' } },
        ]);
      }
    }
    // An unknown field is not looked into; a binary placeholder makes the parser walk.
    expect(await raw.ask('chat:list', `{"more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toMatchObject({
      ok: true,
    });
    const walker = await RawSocket.open(url);
    walker.send(`451-["chat:list",${'['.repeat(100_000)}${']'.repeat(100_000)},{"_placeholder":true,"num":0}]`);
    walker.send(Buffer.from('x'));
    await walker.gone();
    await run.close();
    await here.person.ended(chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(Array.from({ length: written }, (_, index) => `${index + 1},`).join(''));
  });

  test('DAT-2: numbers that are not finite cannot come in by JSON text either', async () => {
    const { url, chatId } = await scene();
    const raw = await RawSocket.open(url);
    expect(await raw.ask('chat:update', `{"chatId":"${chatId}","metadata":{"a":1e999}}`)).toMatchObject({
      ok: false,
      error: { code: 'bad_request' },
    });
    expect(
      await raw.ask('chat:update', `{"chatId":"${chatId}","metadata":{"a":-0.0,"b":1e21,"c":5e-324}}`),
    ).toMatchObject({ ok: true });
    expect(await raw.ask('chat:get', `{"chatId":"${chatId}"}`)).toMatchObject({
      data: { chat: { metadata: { a: 0, b: 1e21, c: 5e-324 } } },
    });
  });
});

describe('DAT-2: paths', () => {
  const segments = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`).join('.');
  const append = (path: string, text = 'x') => ({ op: 'append', path, text });
  const set = (path: string, value: Json = 1) => ({ op: 'set', path, value });
  const merge = (value: Json, path?: string) => ({ op: 'merge', value, ...(path === undefined ? {} : { path }) });

  const table: [string, JsonObject, Record<string, unknown>[], JsonObject | 'bad_request'][] = [
    ['missing parents become objects', {}, [set('a.b.c')], { a: { b: { c: 1 } } }],
    ['and lists before a number', {}, [set('rows.0.text', 'x')], { rows: [{ text: 'x' }] }],
    ['null is as missing', { a: null }, [set('a.b')], { a: { b: 1 } }],
    ['an index at the length extends the list', { rows: [1] }, [set('rows.1', 2)], { rows: [1, 2] }],
    ['an index beyond the length', { rows: [1] }, [set('rows.2', 2)], 'bad_request'],
    ['an index beyond the length of a list that is made', {}, [set('rows.1', 2)], 'bad_request'],
    ['a huge index', { rows: [] }, [set('rows.4294967295', 2)], 'bad_request'],
    ['a number with a leading zero is a name, no index', { rows: [1] }, [set('rows.00')], 'bad_request'],
    ['a name on a list', { rows: [] }, [set('rows.length', 0)], 'bad_request'],
    ['a number is a name on an object', { a: {} }, [set('a.0', 'x')], { a: { 0: 'x' } }],
    ['appending to a missing path creates the text', {}, [append('a.b')], { a: { b: 'x' } }],
    [
      'appending without a path is to content',
      { content: 'a' },
      [{ op: 'append', text: 'b' }, append('', 'c')],
      { content: 'abc' },
    ],
    ['appending in a list', { rows: ['a'] }, [append('rows.0', 'b'), append('rows.1', 'c')], { rows: ['ab', 'c'] }],
    ['appending to a number', { a: 1 }, [append('a')], 'bad_request'],
    ['appending to null', { a: null }, [append('a')], 'bad_request'],
    ['appending to an object', { a: {} }, [append('a')], 'bad_request'],
    ['appending to a list', { a: [] }, [append('a')], 'bad_request'],
    ['a path through a text', { a: 'x' }, [set('a.b')], 'bad_request'],
    ['a path through a number', { a: 1 }, [append('a.b')], 'bad_request'],
    ['a path through a boolean', { a: false }, [merge({}, 'a.b')], 'bad_request'],
    [
      'a leading props. is dropped',
      {},
      [set('props.a'), append('props.b'), merge({ d: 1 }, 'props.c')],
      { a: 1, b: 'x', c: { d: 1 } },
    ],
    ['only the first one', {}, [set('props.props.a')], { props: { a: 1 } }],
    [
      'merge goes deep, lists and scalars replace',
      { a: { b: 1, c: [1, 2] } },
      [merge({ a: { c: [3], d: 'e' } })],
      { a: { b: 1, c: [3], d: 'e' } },
    ],
    ['a merged null replaces', { a: { b: 1 } }, [merge({ a: null })], { a: null }],
    ['merge at a path', { a: { b: { c: 1 } } }, [merge({ d: 2 }, 'a.b')], { a: { b: { c: 1, d: 2 } } }],
    ['merge of an object into a scalar replaces it', { a: 1 }, [merge({ b: 2 }, 'a')], { a: { b: 2 } }],
    ['merge of a scalar without a path', {}, [merge(1)], 'bad_request'],
    ['merge of a list without a path', {}, [merge([])], 'bad_request'],
    ['merge of null without a path', {}, [merge(null)], 'bad_request'],
    ['set without a path', {}, [set('')], 'bad_request'],
    ['an empty segment', {}, [set('a..b')], 'bad_request'],
    ['a dot at the end', {}, [append('a.')], 'bad_request'],
    ['props. alone is as no path', {}, [append('props.'), merge({ a: 1 }, 'props.')], { content: 'x', a: 1 }],
    ['64 segments', {}, [set(segments(64), 'x')], pathObject(64)],
    ['65 segments', {}, [set(segments(65), 'x')], 'bad_request'],
    [
      'names that objects have anyway',
      {},
      [set('toString', 1), append('hasOwnProperty')],
      JSON.parse('{"toString":1,"hasOwnProperty":"x"}') as JsonObject,
    ],
  ];

  test('DAT-2: what each op does at each kind of path, live and stored', async () => {
    const here = await scene();
    const run = await here.turn();
    for (const [what, props, ops, expected] of table)
      expect.soft(await after(run, props, ...ops), what).toEqual(expected);
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    const history = await expectConsistent(here.url, here.chatId, [here.person]);
    const stored = history.slice(1).map(({ props }) => props);
    expect(stored).toEqual(table.map(([, props, , expected]) => (expected === 'bad_request' ? props : expected)));
  });

  function pathObject(count: number): JsonObject {
    let value: Json = 'x';
    for (let index = count - 1; index >= 0; index--) value = { [`k${index}`]: value };
    return value as JsonObject;
  }

  test('DAT-2: a refusal names what was wrong', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('x');
    expect(
      await refusal(
        run.push({ op: 'append', messageId, text: 'a' }, { op: 'append', messageId, text: 'b', path: 'content.b' }),
      ),
    ).toMatchObject({ code: 'bad_request', details: { index: 1 } });
  });
});
