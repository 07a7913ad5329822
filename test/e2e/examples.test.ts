import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Json, Message } from '../../protocol/index.js';
import { sceneOn, type AssistantScene } from '../contract/assistant-hosts.js';
import { callsTools, ModelServer, says, USAGE } from '../harness/model-server.js';
import { textOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { Shell } from '../harness/shell.js';
import { until } from '../harness/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Programs that compile TypeScript while they start, on a machine that is busy with other tests. */
const STARTS_SLOWLY_MS = 60_000;

/** A chat on a server that has loaded an example, as `npx tsx tools/start.mjs` does. */
async function serving(example: string, env: Record<string, string> = {}): Promise<AssistantScene> {
  const settings = { ASSISTANTS: join(ROOT, 'examples', example), NODE_OPTIONS: '--import tsx', ...env };
  return sceneOn((await new ServerProcess(settings).start()).url);
}

describe('programs', { timeout: STARTS_SLOWLY_MS }, () => {
  const run = (file: string, url: string, words = ''): Shell =>
    new Shell(`exec node --import tsx ${join('examples', file)} ${words}`, { cwd: ROOT, env: { TURNSTREAM_URL: url } });

  test('node-client.ts prints the answer', async () => {
    const { url } = await startServer();
    const client = run('node-client.ts', url, '"good morning"');
    expect(await client.ended()).toBe(0);
    expect(client.output).toBe('good morning\n(completed)\n');
  });

  test('remote-agent.ts counts in a step, has echo say it, and leaves when it is told', async () => {
    const { url } = await startServer();
    const agent = run('remote-agent.ts', url);
    await agent.shows('attached\n');
    const scene = await sceneOn(url);
    const turn = await scene.ask('counter', 'one two  three');
    expect(turn.status).toBe('completed');
    expect(await scene.answers(turn.requestId)).toEqual(['I count 3 words.']);
    expect((await scene.steps(turn.requestId)).map(({ type, output }) => [type, output])).toEqual([
      ['tool', 3],
      ['delegate', { response: null }],
    ]);
    agent.signal('SIGINT');
    expect(await agent.ended()).toBe(0);
  });
});

describe('tools.ts', { timeout: STARTS_SLOWLY_MS }, () => {
  const ROLL = { id: 'call_roll', name: 'roll', args: { dice: 3 } };
  const WEATHER = { id: 'call_weather', name: 'temperature', args: { latitude: 59.9, longitude: 10.7 } };

  /** A weather service that answers with these statuses, one after another, then with the last of them. */
  async function weather(...statuses: number[]) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(statuses.length > 1 ? (statuses.shift() ?? 500) : (statuses[0] ?? 500));
      response.end(JSON.stringify({ current: { temperature_2m: -3.5 } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  async function helper(...statuses: number[]) {
    const model = await ModelServer.start();
    const service = await weather(...statuses);
    model.answer(callsTools(ROLL, WEATHER), says('You rolled ', 'dice.'));
    const scene = await serving('tools.ts', {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-example',
      MODEL: 'tiny',
      WEATHER_URL: service.url,
    });
    const turn = await scene.ask('helper', 'Roll three dice. And how warm is it in Oslo?');
    return { turn, model, service, shown: await scene.messages(turn.requestId) };
  }

  const toolOf = (messages: readonly Message[], tool: string): Json | undefined =>
    messages.find(({ props }) => props['tool'] === tool)?.props;

  test('the model asks for both tools; people see the calls, their results and the answer', async () => {
    const { turn, model, service, shown } = await helper(503, 200);
    expect(turn.status).toBe('completed');
    expect(turn.usage).toMatchObject({
      inputTokens: 2 * USAGE.prompt_tokens,
      outputTokens: 2 * USAGE.completion_tokens,
    });
    expect(shown.map(({ type }) => type)).toEqual(['tool_call', 'tool_call', 'text']);
    expect(textOf(shown[2]!)).toBe('You rolled dice.');
    const roll = toolOf(shown, 'roll') as { state: string; output: number[] };
    expect(roll.state).toBe('completed');
    expect(roll.output).toHaveLength(3);
    for (const die of roll.output) expect([1, 2, 3, 4, 5, 6]).toContain(die);
    expect(toolOf(shown, 'temperature')).toMatchObject({ state: 'completed', output: { celsius: -3.5 } });
    expect(service.asked, 'a failure of the service is tried again').toHaveLength(2);
    expect(service.asked[0]).toContain('latitude=59.9&longitude=10.7');
    const { headers, body } = model.requests[1]!;
    expect(headers.authorization).toBe('Bearer sk-example');
    expect(JSON.stringify(body.messages)).toContain('celsius');
  });

  test('a service that stays away is told to the model, which answers all the same', async () => {
    const { turn, model, service, shown } = await helper(503);
    expect(turn.status).toBe('completed');
    expect(service.asked).toHaveLength(3);
    expect(toolOf(shown, 'temperature')).toMatchObject({
      state: 'failed',
      error: 'The weather service answered 503.',
    });
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('The weather service answered 503.');
    expect(textOf(shown.at(-1)!)).toBe('You rolled dice.');
  });
});

describe('analyzer-visualizer.ts', { timeout: STARTS_SLOWLY_MS }, () => {
  const ANALYSIS = '3 numbers, 8 in all.';
  const BARS = [`${'█'.repeat(15)} 3\n`, `${'█'.repeat(5)} 1\n`, `${'█'.repeat(20)} 4\n`];

  test('the analyzer speaks, then the visualizer draws, in one turn', async () => {
    const scene = await serving('analyzer-visualizer.ts');
    const turn = await scene.ask('analyzer', '3 1 4');
    expect(turn.status).toBe('completed');
    expect(await scene.answers(turn.requestId)).toEqual([ANALYSIS, BARS.join('')]);
    const shown = await scene.messages(turn.requestId);
    expect(shown.map(({ assistantId }) => assistantId)).toEqual(['analyzer', 'visualizer']);
  });

  test('a visualizer that was stopped goes on; the analyzer does not speak again', async () => {
    const scene = await serving('analyzer-visualizer.ts');
    const { requestId } = await scene.start('analyzer', '3 1 4');
    await scene.shows(`${ANALYSIS}${BARS[0]}`);
    await scene.stop(requestId);
    const before = await scene.steps(requestId);
    expect(
      before.map(({ assistantId, type, status, spaceSnapshot }) => [assistantId, type, status, spaceSnapshot]),
    ).toEqual([
      ['analyzer', 'input', 'completed', {}],
      ['analyzer', 'llm', 'completed', {}],
      ['analyzer', 'delegate', 'running', { largest: 4 }],
      ['visualizer', 'input', 'completed', { largest: 4 }],
      ['visualizer', 'llm', 'interrupted', { largest: 4 }],
    ]);
    const analysis = (await scene.messages(requestId))[0];

    // As the head of the example says it: without a body.
    const resumed = await fetch(`${scene.url}/v1/turns/${requestId}/resume`, { method: 'POST' });
    expect(resumed.status).toBe(202);
    await scene.shows(ANALYSIS + BARS.join(''));
    const turns = async () => (await scene.get<{ turn: { status: string } }>(`/v1/turns/${requestId}`)).turn.status;
    await until(async () => (await turns()) === 'completed', 'the end of the resumed turn');
    expect(await scene.answers(requestId)).toEqual([ANALYSIS, BARS.join('')]);
    expect((await scene.messages(requestId))[0]).toEqual(analysis);
    const after = await scene.steps(requestId);
    expect(after.map(({ stepId }) => stepId)).toEqual(before.map(({ stepId }) => stepId));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['completed']));
  });
});

describe('expense.ts', { timeout: STARTS_SLOWLY_MS }, () => {
  test('the desk chooses by the space; the expense assistant takes the choice out of it', async () => {
    const scene = await serving('expense.ts');
    const say = async (text: string) => {
      const { requestId } = await scene.ask('desk', text);
      return (await scene.answers(requestId)).join('');
    };
    expect(await say('Train to Bergen 48.50')).toBe('Noted: Train to Bergen, 48.50.');
    expect(await say('Train home 31.50')).toBe('Noted: Train home, 31.50.');
    expect(await say('Nothing')).toContain('Say what it was');
    const { requestId, status } = await scene.ask('desk', 'How much was the train?');
    expect(status).toBe('completed');
    expect(await scene.answers(requestId)).toEqual(['2 noted, 80.00 in all.']);
    const steps = await scene.steps(requestId);
    expect(steps.map(({ assistantId, type, spaceSnapshot }) => [assistantId, type, spaceSnapshot])).toEqual([
      ['desk', 'input', {}],
      ['desk', 'hook_next', {}],
      ['desk', 'delegate', { choose_prompt: 'query' }],
      ['expense', 'input', { choose_prompt: 'query' }],
      ['expense', 'hook_create', { choose_prompt: 'query' }],
    ]);
  });
});
