import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAssistant, tool, type Assistant, type AssistantDefinition } from '../../assistant/index.js';
import type { Json, Message } from '../../protocol/index.js';
import { answering, COST, heard, scripted } from '../harness/scripted-model.js';
import { until } from '../harness/until.js';
import { hosts, type AssistantScene } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';
import { ask, call, plain } from './pipeline-bot.js';

/** The stages of an assistant, on every host: what each is given, gives, records and shows. */

/** Asks another assistant, and says what it gave. */
const asks = (assistantId: string): Assistant =>
  defineAssistant({
    assistantId: 'asks',
    run: async (ctx) => void (await ctx.send(JSON.stringify(await ctx.delegate(assistantId, ctx.input)))),
  });

const shown = (messages: readonly Message[]) => messages.map(({ type, props }) => [type, props] as const);

async function records(scene: AssistantScene, requestId: string) {
  const steps = await scene.steps(requestId);
  return steps.map(({ sequence, type, status, input, output, spaceSnapshot }) => {
    return { sequence, type, status, input, output, space: spaceSnapshot };
  });
}

describe.each(hosts)('TRN-9: the pipeline, $name', ({ host }) => {
  test('each stage is a step with its input, its output and the space as it began; what it sends is its own', async () => {
    const model = answering(
      [{ thinking: 'Hm.' }, 'I look it up.', call('weather', { city: 'Oslo' })],
      ['It is ', 'cold.'],
    );
    const weather = tool({
      description: 'The weather.',
      inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
      async execute({ city, days }, ctx) {
        await ctx.space.set('city', city);
        return { city, days, celsius: -3 };
      },
    });
    const payloads: unknown[] = [];
    const { scene, turn, messages } = await ask(host, {
      async create(ctx, payload) {
        payloads.push(payload);
        await ctx.space.set('asked', 1);
        return { messages: [...payload.messages, { role: 'user', content: 'In short.' }] };
      },
      instructions: (ctx) => `You speak to ${ctx.user.userId}.`,
      model,
      tools: { weather },
      settings: { temperature: 0.5 },
      async next(ctx, payload) {
        payloads.push(payload);
        await ctx.send('Anything else?');
        return { data: { cold: true } };
      },
    });
    expect(turn).toMatchObject({ status: 'completed', usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 } });
    const go = { role: 'user', content: 'go' };
    const system = { instructions: 'You speak to local.' };
    const asked = [go, { role: 'user', content: 'In short.' }];
    const result = { toolCallId: 'c1', tool: 'weather', args: { city: 'Oslo' } };
    const found = { city: 'Oslo', days: 1, celsius: -3 };
    const said = expect.objectContaining({ role: 'assistant' }) as unknown;
    const told = {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'json', value: found } }],
    };
    const toolCall = { toolCallId: 'c1', tool: 'weather', input: { city: 'Oslo' }, error: null };
    const round = { content: 'I look it up.', reasoning: 'Hm.', toolCalls: [toolCall], usage: COST };
    const last = { content: 'It is cold.', reasoning: null, toolCalls: [], finishReason: 'stop', usage: COST };
    const both = { asked: 1, city: 'Oslo' };
    const next = { completion: last, tools: [{ ...result, result: found, error: null }] };
    expect(await records(scene, turn.requestId)).toMatchObject([
      { type: 'input', input: { messages: [{ type: 'text', props: { content: 'go' } }] }, output: null, space: {} },
      { type: 'hook_create', input: { messages: [go] }, output: { messages: asked }, space: {} },
      { type: 'llm', input: { ...system, messages: asked }, output: round, space: { asked: 1 } },
      { type: 'tool', input: result, output: { result: found }, space: { asked: 1 } },
      { type: 'llm', input: { ...system, messages: [...asked, said, told] }, output: last, space: both },
      { type: 'hook_next', input: next, output: { data: { cold: true } }, space: both },
    ]);
    const steps = await scene.steps(turn.requestId);
    expect(steps.map(({ sequence, status }) => [sequence, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((sequence) => [sequence, 'completed']),
    );
    expect(payloads).toMatchObject([{ messages: [go] }, next]);
    expect(shown(messages)).toEqual([
      ['thinking', { content: 'Hm.' }],
      ['text', { content: 'I look it up.' }],
      ['tool_call', { toolCallId: 'c1', tool: 'weather', input: { city: 'Oslo' }, state: 'completed', output: found }],
      ['text', { content: 'It is ' }],
      ['text', { content: 'cold.' }],
      ['text', { content: 'Anything else?' }],
    ]);
    const owners = messages.map(({ stepId }) => steps.findIndex((step) => step.stepId === stepId) + 1);
    expect(owners).toEqual([3, 3, 4, 5, 5, 6]);
    expect(messages.every(({ state }) => state === 'closed')).toBe(true);
    const [first] = model.doStreamCalls;
    expect(heard(first!.prompt)).toEqual(['system: You speak to local.', 'user: go', 'user: In short.']);
    expect(first).toMatchObject({ temperature: 0.5, tools: [{ name: 'weather', description: 'The weather.' }] });
  });

  test('AGT-8: what it gives its caller: data of next, else what it delegated to gave, else the text of the model', async () => {
    const leaf = defineAssistant({ assistantId: 'leaf', run: () => ({ leaf: true }) });
    const delegate = { assistantId: 'leaf' };
    const says = () => answering(['The ', 'text']);
    const ways: [Partial<AssistantDefinition>, Json][] = [
      [{ model: says() }, 'The text'],
      [{ model: says(), next: () => undefined }, 'The text'],
      [{ model: says(), next: () => ({ data: { n: [1, null] } }) }, { n: [1, null] }],
      [{ model: says(), next: () => ({ data: null }) }, null],
      [{ model: says(), next: () => ({ delegate }) }, { leaf: true }],
      [{ next: () => ({ delegate, data: 'mine' }) }, 'mine'],
      [{ create: () => ({ delegate }), model: says(), next: () => ({ data: 'never' }) }, { leaf: true }],
      [{ create: () => undefined }, null],
      [
        {
          next: (_, { completion, tools }) => ({
            data: { completion: completion as Json, tools: [...tools] as never },
          }),
        },
        { completion: null, tools: [] },
      ],
    ];
    const bots = ways.map(([way], n) => defineAssistant({ assistantId: `bot-${n}`, ...way }));
    const all = defineAssistant({
      assistantId: 'all',
      async run(ctx) {
        const answers = await ctx.callAll(bots.map(({ assistantId }) => ({ assistantId, messages: 'go' })));
        await ctx.send({ type: 'outputs', props: { outputs: answers.map(({ output }) => output) } });
      },
    });
    const scene = await host([all, leaf, ...bots]);
    const turn = await scene.ask('all', 'go');
    expect(turn).toMatchObject({ status: 'completed', usage: { totalTokens: 5 * COST.totalTokens } });
    const [message] = await scene.messages(turn.requestId);
    expect(message?.props['outputs']).toEqual(ways.map(([, output]) => output));
  });

  test('AGT-8: next hands over with data in the space, which the create hook of the other takes out', async () => {
    const model = answering(['Here is your chart.']);
    const visualizer = defineAssistant({
      assistantId: 'visualizer',
      create: (ctx, { messages }) => ({
        messages: [
          { role: 'system', content: `prompt: ${JSON.stringify(ctx.space.getDel('choose_prompt'))}` },
          ...messages,
        ],
      }),
      model,
      next: (ctx) => ({ data: ctx.space.snapshot() }),
    });
    const analyzer = defineAssistant({
      assistantId: 'analyzer',
      model: answering(['These are the numbers.']),
      async next(ctx) {
        await ctx.space.set('choose_prompt', 'query');
        return { delegate: { assistantId: 'visualizer', messages: [{ type: 'text', props: { content: 'draw it' } }] } };
      },
    });
    const scene = await host([asks('analyzer'), visualizer, analyzer]);
    const turn = await scene.ask('asks', 'analyze');
    expect(turn).toMatchObject({ status: 'completed', error: null, usage: { totalTokens: 2 * COST.totalTokens } });
    expect(heard(model.doStreamCalls[0]!.prompt)).toEqual(['system: prompt: "query"', 'user: draw it']);
    expect(await scene.answers(turn.requestId)).toEqual(['These are the numbers.', 'Here is your chart.', '{}']);
    const steps = await scene.steps(turn.requestId);
    expect(steps.map(({ stackDepth, type, spaceSnapshot }) => [stackDepth, type, spaceSnapshot])).toEqual([
      [0, 'delegate', {}],
      [1, 'input', {}],
      [1, 'llm', {}],
      [1, 'hook_next', {}],
      [1, 'delegate', { choose_prompt: 'query' }],
      [2, 'input', { choose_prompt: 'query' }],
      [2, 'hook_create', { choose_prompt: 'query' }],
      [2, 'llm', {}],
      [2, 'hook_next', {}],
    ]);
  });

  test('AGT-7: the model hears the earlier turns, their tools too, and a turn without a model costs nothing', async () => {
    const model = answering([call('add', { a: 1 })], ['It is 2.'], ['Still 2.']);
    const mute = defineAssistant({ assistantId: 'mute', next: (ctx) => void ctx.send('…') });
    const { scene, turn } = await ask(host, { model, tools: { add: plain(() => 2) } }, { more: [mute] });
    expect(turn.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
    expect((await scene.ask('mute', 'hm?')).usage).toBeNull();
    await scene.ask('bot', 'sure?');
    expect(heard(model.doStreamCalls[2]!.prompt)).toEqual([
      'user: go',
      'assistant: c1=add({"a":1})',
      'tool: c1:{"type":"json","value":2}',
      'assistant: It is 2.',
      'user: hm?',
      'assistant: …',
      'user: sure?',
    ]);
  });

  test('maxSteps ends a model that asks for tools without end; what it did is kept', async () => {
    const model = scripted((_, n) => [`Once ${n}.`, call('again', {}, `c${n}`)]);
    const { turn, messages } = await ask(host, { model, tools: { again: plain(() => null) }, maxSteps: 3 });
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'max_steps' }, usage: { totalTokens: 45 } });
    expect(messages).toHaveLength(6);
    expect(model.doStreamCalls).toHaveLength(3);
  });

  test('a hook that gives something else than it may fails the turn with a clear error', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const bad: [string, unknown, string][] = [
      ...[5, 'text', [], { message: [] }, { messages: 'text' }, { delegate: {} }].map(
        (result): [string, unknown, string] => ['create', result, 'hook_create'],
      ),
      ...[true, { text: 'x' }, { data: () => 1 }, { data: cyclic }, { delegate: 'bot' }].map(
        (result): [string, unknown, string] => ['next', result, 'hook_next'],
      ),
    ];
    const bots = bad.map(([stage, result], n) => defineAssistant({ assistantId: `bot-${n}`, [stage]: () => result }));
    const scene = await host(bots);
    for (const [n, [, , type]] of bad.entries()) {
      const turn = await scene.ask(`bot-${n}`, 'go');
      expect(turn, `${n}`).toMatchObject({ status: 'failed', error: { code: 'bad_result' } });
      expect(turn.error?.message, `${n}`).toMatch(type);
      expect((await scene.steps(turn.requestId)).at(-1), `${n}`).toMatchObject({ type, status: 'failed' });
    }
  });

  test('a model that breaks off or falls silent is asked again, and nothing stands twice', async () => {
    const cut = () => Promise.reject(Object.assign(new Error('cut'), { code: 'ECONNRESET' }));
    const model = answering(['It ', cut], [{ thinking: 'Hm.' }, forever], ['It is.']);
    const { turn, messages } = await ask(host, { model, retry: { backoffMs: 1 }, timeoutMs: 200 });
    expect(turn).toMatchObject({ status: 'completed', usage: COST });
    expect(shown(messages).filter(([type]) => type !== 'loading')).toEqual([['text', { content: 'It is.' }]]);
    expect(model.doStreamCalls).toHaveLength(3);
    const refused = answering(['It ', () => Promise.reject(new Error('No such model'))], ['never asked']);
    const failed = await ask(host, { model: refused, retry: { backoffMs: 1 } });
    expect(failed.turn.error).toEqual({ code: 'model_error', message: 'The model failed: No such model' });
    expect(shown(failed.messages)).toEqual([['text', { content: 'It ' }]]);
    expect(refused.doStreamCalls).toHaveLength(1);
  });

  test('what fails or is stopped between two steps goes on there, too, and leaves the steps below as they were', async () => {
    const ran: string[] = [];
    let trouble: string | null = null;
    const pass = async (place: string): Promise<string> => {
      ran.push(place);
      if (trouble === place) throw new Error(`no ${place}`);
      if (trouble === `${place} hangs`) await forever();
      return place;
    };
    const top = defineAssistant({
      assistantId: 'top',
      instructions: () => pass('top between'),
      model: answering(['Top.']),
      async next(ctx) {
        await ctx.space.set('top', true);
        return { delegate: { assistantId: 'low' } };
      },
    });
    const low = defineAssistant({
      assistantId: 'low',
      instructions: () => pass('low between'),
      model: scripted((prompt) =>
        prompt.at(-1)?.role === 'tool' ? ['Low.'] : ['Wait. ', call('look', {}, 'a'), call('look', {}, 'b')],
      ),
      tools: { look: plain((_, __, { toolCallId }) => pass(toolCallId)) },
      next: async (ctx) => void (await ctx.send(JSON.stringify(ctx.space.snapshot()))),
    });
    const scene = await host([top, low]);
    trouble = 'low between';
    const { requestId, error } = await scene.ask('top', 'go');
    expect(error?.message).toBe('low: no low between');
    trouble = 'b';
    expect((await scene.resume(requestId)).error?.message).toBe('low: no b');
    // This attempt does not even come to what failed.
    trouble = 'top between hangs';
    const before = ran.length;
    const third = scene.resume(requestId);
    await until(() => ran.length > before, 'it runs');
    await scene.stop(requestId);
    expect(await third).toMatchObject({ status: 'interrupted', stopReason: 'stopped' });
    trouble = null;
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', usage: { totalTokens: 45 } });
    expect(ran.filter((place) => place.length === 1).sort()).toEqual(['a', 'b', 'b']);
    expect(await scene.answers(requestId)).toEqual(['Top.', 'Wait. ', '', '', 'Low.', '{"top":true}']);
    expect(
      (await scene.steps(requestId)).map(({ stackDepth, type, status }) => `${stackDepth} ${type} ${status}`),
    ).toEqual(
      [
        '0 input',
        '0 llm',
        '0 hook_next',
        '0 delegate',
        '1 input',
        '1 llm',
        '1 tool',
        '1 tool',
        '1 llm',
        '1 hook_next',
      ].map((step) => `${step} completed`),
    );
  });
});
