import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAssistant, tool, type Assistant } from '../../assistant/index.js';
import type { Result, Step } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { answering, COST, heard, scripted } from '../harness/scripted-model.js';
import { agentOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { hosts, sceneOn, type AssistantScene } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';

/** TRN-9 for each type of step: what was cut off or failed there goes on there, and nothing that was done is done again. */

type Trouble = 'hangs' | 'fails';

/** Notes what ran, and makes one stage hang or fail for as long as it should. */
class Trail {
  readonly ran: string[] = [];
  at: string | null = null;
  how: Trouble = 'fails';

  async pass(stage: string): Promise<void> {
    this.ran.push(stage);
    if (this.at !== stage) return;
    if (this.how === 'hangs') await forever();
    throw new Error(`trouble at ${stage}`);
  }

  times(stage: string): number {
    return this.ran.filter((ran) => ran === stage).length;
  }
}

/** An assistant with every stage: a hook before, two rounds of the model with two tools in between, and a hook after. */
function worker(trail: Trail, assistantId = 'worker') {
  const model = scripted((prompt) =>
    prompt.some(({ role }) => role === 'tool')
      ? ['Both are ', () => trail.pass('llm 2'), 'found.']
      : [
          { thinking: 'I have to look.' },
          'Let me ',
          () => trail.pass('llm 1'),
          'look. ',
          { call: 'look', id: 'c1', input: { what: 'one' } },
          { call: 'look', id: 'c2', input: { what: 'two' } },
        ],
  );
  const seen: unknown[] = [];
  const look = tool({
    inputSchema: z.object({ what: z.string() }),
    async execute({ what }, ctx, { toolCallId }) {
      seen.push([toolCallId, what]);
      const note = await ctx.send(`looking for ${what}`);
      await trail.pass(`tool ${toolCallId}`);
      await ctx.append(note, ', found');
      return { found: what };
    },
  });
  const assistant: Assistant = defineAssistant({
    assistantId,
    async create(ctx, { messages }) {
      await ctx.space.set('created', true);
      const note = await ctx.send('Just a ');
      await trail.pass('create');
      await ctx.append(note, 'moment.');
      return { messages: [...messages, { role: 'user', content: 'Be quick.' }] };
    },
    model,
    instructions: 'You find things.',
    tools: { look },
    retry: { attempts: 1 },
    async next(ctx, { completion, tools }) {
      seen.push([completion?.content, tools.map(({ result }) => result)]);
      await ctx.send('That ');
      await trail.pass('next');
      await ctx.send('was it.');
      return { data: { found: tools.length, created: ctx.space.get('created') ?? null } };
    },
  });
  return { assistant, model, seen };
}

/** Hands over to the worker and goes on after it. */
const chief = (trail: Trail): Assistant =>
  defineAssistant({
    assistantId: 'chief',
    async create(ctx) {
      await ctx.space.set('chief', 'was here');
      await trail.pass('chief create');
    },
    model: scripted(() => ['I ', () => trail.pass('chief llm'), 'hand over.']),
    retry: { attempts: 1 },
    async next(ctx) {
      await trail.pass('chief next');
      await ctx.send('The worker will see to it.');
      return { delegate: { assistantId: 'worker' } };
    },
  });

const STAGES = ['create', 'llm 1', 'tool c1', 'tool c2', 'llm 2', 'next'];
const CHIEF_STAGES = ['chief create', 'chief llm', 'chief next'];
const TROUBLES: Trouble[] = ['hangs', 'fails'];

/** The turn's answers and steps as they should not depend on what went wrong in between. */
async function outcome(scene: AssistantScene, requestId: string) {
  const steps = await scene.steps(requestId);
  const messages = (await scene.messages(requestId)).map(({ type, props, state }) => ({ type, props, state }));
  const stacks = [...new Set(steps.map(({ stackId }) => stackId))];
  return {
    messages: messages.map((message) => JSON.stringify(message)).sort(),
    // What two tools send while they run side by side may stand in any order.
    order: messages
      .map(({ props }) => JSON.stringify(props['content'] ?? props['state']))
      .filter((text) => !text.startsWith('"looking')),
    steps: steps.map(({ type, status, input, output, spaceSnapshot, stackId, stackDepth, metadata }) => ({
      ...{ type, status, input, output, stackDepth, stack: stacks.indexOf(stackId) },
      // A call that goes on begins again with what its assistant has put into the space meanwhile.
      space: type === 'delegate' ? null : spaceSnapshot,
      handled: metadata?.['handled'] ?? null,
    })),
  };
}

const isCompletedTool = ({ type, status }: Step): boolean => type === 'tool' && status === 'completed';

/** Runs a turn into trouble at a stage; gives it back once it has ended there. */
async function intoTrouble(scene: AssistantScene, assistantId: string, trail: Trail, at: string, how: Trouble) {
  Object.assign(trail, { at, how });
  const before = trail.times(at);
  const { requestId, turn } = await scene.start(assistantId, 'find both');
  if (how === 'hangs') {
    await until(() => trail.times(at) > before, at);
    const isDone = async () => (await scene.steps(requestId)).some(isCompletedTool);
    if (at.startsWith('tool')) await until(isDone, 'the other tool');
    await scene.stop(requestId);
  }
  return { requestId, turn: await turn };
}

async function expectUntroubled(here: Here, undisturbed: unknown, at: string, how: Trouble): Promise<void> {
  const { scene, trail, assistantId, stages } = here;
  const name = `${at} ${how}`;
  const { requestId, turn } = await intoTrouble(scene, assistantId, trail, at, how);
  expect(turn, name).toMatchObject(
    how === 'fails' ? { status: 'failed', stopReason: 'error' } : { status: 'interrupted', stopReason: 'stopped' },
  );
  expect(turn.error?.message ?? '', name).toMatch(how === 'fails' ? `trouble at ${at}` : /^$/);
  const { step } = await scene.get<{ step: Step }>(`/v1/chats/${scene.chatId}/incomplete-step`);
  const type = /llm|tool/.exec(at)?.[0] ?? `hook_${at.split(' ').at(-1)}`;
  expect(step, name).toMatchObject({ type, status: how === 'fails' ? 'failed' : 'interrupted' });
  trail.at = null;
  expect(await scene.resume(requestId), name).toMatchObject({ status: 'completed', attempt: 2, error: null });
  expect(await outcome(scene, requestId), name).toEqual(undisturbed);
  const twice = stages.filter((stage) => trail.times(stage) !== 1);
  expect(twice, name).toEqual([at]);
  expect(trail.times(at), name).toBe(2);
}

interface Here {
  readonly scene: AssistantScene;
  readonly trail: Trail;
  readonly assistantId: string;
  readonly stages: readonly string[];
}

describe.each(hosts)('TRN-9: $name', ({ host }) => {
  test('each stage that hangs or fails goes on there, as if nothing had been', async () => {
    const trail = new Trail();
    const { assistant, seen } = worker(trail);
    const calm = await host([assistant]);
    const first = await calm.ask('worker', 'find both');
    expect(first).toMatchObject({ status: 'completed', usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 } });
    const undisturbed = await outcome(calm, first.requestId);
    expect(undisturbed.steps.map(({ type, status }) => `${type} ${status}`)).toEqual(
      ['input', 'hook_create', 'llm', 'tool', 'tool', 'llm', 'hook_next'].map((type) => `${type} completed`),
    );
    for (const how of TROUBLES) {
      for (const at of STAGES) {
        trail.ran.length = seen.length = 0;
        const here = { scene: await sceneOn(calm.url), trail, assistantId: 'worker', stages: STAGES };
        await expectUntroubled(here, undisturbed, at, how);
        const calls = seen.map((call) => JSON.stringify(call));
        const again = at.startsWith('tool') ? [JSON.stringify(at === 'tool c1' ? ['c1', 'one'] : ['c2', 'two'])] : [];
        const hooks = Array<string>(at === 'next' ? 2 : 1).fill(
          '["Both are found.",[{"found":"one"},{"found":"two"}]]',
        );
        expect(calls.sort(), `${at} ${how}: with the same arguments`).toEqual(
          [...hooks, '["c1","one"]', '["c2","two"]', ...again].sort(),
        );
      }
    }
  });

  test('AGT-8: in an assistant that was delegated to: the leaf goes on, then the delegate step, then the parent', async () => {
    const trail = new Trail();
    const assistants = [chief(trail), worker(trail).assistant];
    const calm = await host(assistants);
    const first = await calm.ask('chief', 'find both');
    expect(first).toMatchObject({ status: 'completed', usage: { inputTokens: 30, outputTokens: 15, totalTokens: 45 } });
    const undisturbed = await outcome(calm, first.requestId);
    expect(undisturbed.steps.map(({ type, stackDepth }) => `${stackDepth} ${type}`)).toEqual([
      ...['0 input', '0 hook_create', '0 llm', '0 hook_next', '0 delegate'],
      ...['1 input', '1 hook_create', '1 llm', '1 tool', '1 tool', '1 llm', '1 hook_next'],
    ]);
    const stages = [...CHIEF_STAGES, ...STAGES];
    for (const [index, at] of stages.entries()) {
      trail.ran.length = 0;
      const here = { scene: await sceneOn(calm.url), trail, assistantId: 'chief', stages };
      await expectUntroubled(here, undisturbed, at, TROUBLES[index % 2]!);
    }
  });

  test('again and again: each attempt gets one stage further, nothing runs twice that was done, usage counts once', async () => {
    const trail = new Trail();
    const { assistant, model } = worker(trail);
    const scene = await host([chief(trail), assistant]);
    const calm = await scene.ask('chief', 'find both');
    const undisturbed = await outcome(scene, calm.requestId);
    const prompts = model.doStreamCalls.map(({ prompt }) => heard(prompt));
    model.doStreamCalls.length = trail.ran.length = 0;

    const chat = await sceneOn(scene.url);
    const { requestId } = await intoTrouble(chat, 'chief', trail, 'chief next', 'hangs');
    const usages: unknown[] = [];
    for (const at of ['create', 'llm 1', 'tool c2', 'llm 2', 'next']) {
      Object.assign(trail, { at, how: 'fails' });
      const turn = await chat.resume(requestId);
      expect(turn).toMatchObject({
        status: 'failed',
        error: { message: expect.stringMatching(`^worker: .*trouble at ${at}$`) as unknown },
      });
      usages.push(turn.usage);
    }
    trail.at = null;
    const turn = await chat.resume(requestId);
    expect(turn).toMatchObject({ status: 'completed', attempt: 7, usage: calm.usage });
    expect(await outcome(chat, requestId)).toEqual(undisturbed);
    for (const stage of [...CHIEF_STAGES, ...STAGES]) {
      const isOnce = ['chief create', 'chief llm', 'tool c1'].includes(stage);
      expect([stage, trail.times(stage)]).toEqual([stage, isOnce ? 1 : 2]);
    }
    // Both rounds were asked for twice, with the same words each time.
    expect(model.doStreamCalls.map(({ prompt }) => heard(prompt))).toEqual(
      prompts.flatMap((prompt) => [prompt, prompt]),
    );
    expect(usages.at(-1)).toEqual(calm.usage);
  });

  test('the model is asked again with the stored messages, whatever the chat has got meanwhile, and a new turn hears all', async () => {
    const trail = new Trail();
    const { assistant, model } = worker(trail);
    const other = answering(['Something else.']);
    const scene = await host([assistant, defineAssistant({ assistantId: 'other', model: other })]);
    const { requestId } = await intoTrouble(scene, 'worker', trail, 'llm 1', 'fails');
    trail.at = null;
    await scene.ask('other', 'what else?');
    expect(heard(other.doStreamCalls[0]!.prompt).at(0)).toBe('user: find both');
    await scene.resume(requestId);
    const [first, again, second] = model.doStreamCalls.map(({ prompt }) => heard(prompt));
    expect(first).toEqual(['system: You find things.', 'user: find both', 'user: Be quick.']);
    expect(again).toEqual(first);
    expect(second).toEqual([
      ...first!,
      'assistant: reasoning | Let me  | look.  | c1=look({"what":"one"}) | c2=look({"what":"two"})',
      'tool: c1:{"type":"json","value":{"found":"one"}} | c2:{"type":"json","value":{"found":"two"}}',
    ]);
  });

  test('a create hook that delegates is not asked again when what it delegated to goes on', async () => {
    const trail = new Trail();
    const { assistant } = worker(trail);
    const asked: unknown[] = [];
    const door = defineAssistant({
      assistantId: 'door',
      create: (ctx) => {
        asked.push(ctx.input[0]?.props['content']);
        return { delegate: { assistantId: 'worker', messages: 'find both, please' } };
      },
      next: () => void asked.push('next'),
    });
    const scene = await host([door, assistant]);
    const { requestId } = await intoTrouble(scene, 'door', trail, 'tool c1', 'hangs');
    trail.at = null;
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(asked).toEqual(['find both']);
    expect((await scene.steps(requestId)).map(({ type, status }) => `${type} ${status}`)).toEqual(
      ['input', 'hook_create', 'delegate', 'input', 'hook_create', 'llm', 'tool', 'tool', 'llm', 'hook_next'].map(
        (type) => `${type} completed`,
      ),
    );
  });

  test('tools that failed run again, side by side; a failure that the model was told of stands', async () => {
    const broken = new Set(['a', 'b', 'c']);
    const ran: string[] = [];
    const flaky = (onError: 'fail' | 'tell') =>
      tool({
        inputSchema: z.object({}),
        onError,
        execute: (_, __, { toolCallId }) => {
          ran.push(toolCallId);
          if (broken.has(toolCallId)) throw new Error(`no ${toolCallId}`);
          return toolCallId;
        },
      });
    const calls = ['a', 'b', 'c'].map((id) => ({ call: id === 'b' ? 'tells' : 'fails', id, input: {} }));
    const model = answering(calls, [() => Promise.reject(new Error('no model'))], ['Done.']);
    const tools = { fails: flaky('fail'), tells: flaky('tell') };
    const scene = await host([defineAssistant({ assistantId: 'bot', model, tools, retry: { attempts: 1 } })]);
    const { requestId, error } = await scene.ask('bot', 'go');
    expect(error?.message).toBe('no a');
    expect(ran.splice(0).sort()).toEqual(['a', 'b', 'c']);
    // The model was told nothing yet: all three may still succeed.
    broken.delete('a');
    expect((await scene.resume(requestId)).error?.message).toBe('no c');
    expect(ran.splice(0).sort()).toEqual(['a', 'b', 'c']);
    broken.delete('c');
    expect((await scene.resume(requestId)).error?.message).toMatch('no model');
    expect(ran.splice(0).sort()).toEqual(['b', 'c']);
    broken.delete('b');
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', usage: { totalTokens: 30 } });
    expect(ran).toEqual([]);
    expect(heard(model.doStreamCalls[2]!.prompt).at(-1)).toBe(
      'tool: a:{"type":"text","value":"a"} | b:{"type":"error-text","value":"no b"} | c:{"type":"text","value":"c"}',
    );
    const states = (await scene.messages(requestId))
      .filter(({ type }) => type === 'tool_call')
      .map(({ props }) => JSON.stringify([props['toolCallId'], props['state']]));
    expect(states.sort()).toEqual(['["a","completed"]', '["b","failed"]', '["c","completed"]']);
  });

  test('TRN-8: two write transactions per attempt, however many steps, tools and assistants', async () => {
    const trail = new Trail();
    const scene = await host([chief(trail), worker(trail).assistant]);
    const writes = () => metric(scene.url, 'turnstream_store_transactions_total{kind="write"}');
    const before = await writes();
    const { requestId } = await intoTrouble(scene, 'chief', trail, 'llm 2', 'fails');
    expect((await writes()) - before).toBe(2);
    trail.at = null;
    await scene.resume(requestId);
    expect((await writes()) - before).toBe(4);
    await scene.ask('chief', 'once more');
    expect((await writes()) - before).toBe(6);
  });
});

describe('TRN-9: an input step that was cut off starts over from the input', () => {
  test.each(['in-process', 'a remote agent'])('%s', async (where) => {
    const model = answering(['Here I am.']);
    const hooks: unknown[] = [];
    const bot = defineAssistant({
      assistantId: 'bot',
      create: (_, { messages }) => void hooks.push(messages),
      model,
    });
    const first = await startServer();
    const person = await new Person(first.url).open();
    const chatId = await person.createChat({ assistantId: 'bot' });
    await person.follow(chatId);
    const raw = await new Agent(first.url, ['bot']).join();
    const { requestId } = (await person.start(chatId, 'hello')).turn;
    const run = await raw.run(requestId);
    await run.push({ op: 'step.start', stepId: uid('s'), type: 'input', input: { messages: [] } });
    await run.close('interrupted');
    await person.ended(chatId, requestId);
    await first.close();

    const { url } = await startServer({
      dataDir: first.dataDir,
      assistants: where === 'in-process' ? [bot] : [],
    });
    if (where !== 'in-process') await agentOf(url, [bot], { auth: { userId: 'agent', roles: ['agent'] } });
    const again = await new Person(url).open();
    await again.follow(chatId);
    await again.do('turn:resume', { requestId });
    expect((await again.ended(chatId, requestId, 2)).turn).toMatchObject({ status: 'completed', usage: COST });
    expect(hooks).toEqual([[{ role: 'user', content: 'hello' }]]);
    const { steps } = await again.do<Result<'step:list'>>('step:list', { requestId });
    expect(steps.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'input completed',
      'hook_create completed',
      'llm completed',
    ]);
  });
});
