import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAssistant, tool, type Tools } from '../../assistant/index.js';
import { answering, COST, heard } from '../harness/scripted-model.js';
import { until } from '../harness/until.js';
import { hosts } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';
import { ask, call, plain } from './pipeline-bot.js';

/** The tools of an assistant, on every host: how they are run, fail, are tried again, and given up. */

describe.each(hosts)('TRN-9: tools, $name', ({ host }) => {
  test('a tool that fails ends the turn, or tells the model; what the model did wrong is told to it and is no step', async () => {
    const asked = [
      call('weather', { city: 7 }, 'w'),
      call('nobody', {}, 'n'),
      call('tells', {}, 't'),
      call('toString', {}, 'p'),
      call('right', {}, 'r'),
    ];
    const model = answering(asked, ['I see.']);
    const tools: Tools = {
      weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city }),
      tells: plain(() => Promise.reject(new Error('out of order')), { onError: 'tell' }),
      right: plain(() => 'fine'),
    };
    const { scene, turn, messages } = await ask(host, { model, tools });
    expect(turn).toMatchObject({ status: 'completed', error: null });
    const [results] = model.doStreamCalls[1]!.prompt.filter(({ role }) => role === 'tool');
    const told = (results!.content as { toolCallId: string; output: { type: string; value: string } }[]).map(
      ({ toolCallId, output }) => [toolCallId, output.type, output.value],
    );
    expect(told).toEqual([
      ['w', 'error-text', expect.stringMatching(/expected string.*city/s)],
      ['n', 'error-text', expect.stringMatching(/There is no tool "nobody".*weather, tells, right/)],
      ['t', 'error-text', 'out of order'],
      ['p', 'error-text', expect.stringMatching(/There is no tool "toString"/)],
      ['r', 'text', 'fine'],
    ]);
    const states = messages.filter(({ type }) => type === 'tool_call').map(({ props }) => props);
    expect(states).toEqual([
      { toolCallId: 't', tool: 'tells', input: {}, state: 'failed', error: 'out of order' },
      { toolCallId: 'r', tool: 'right', input: {}, state: 'completed', output: 'fine' },
    ]);
    const steps = await scene.steps(turn.requestId);
    expect(steps.map(({ type, status, metadata }) => [type, status, metadata?.['handled'] ?? null])).toEqual([
      ['input', 'completed', null],
      ['llm', 'completed', null],
      ['tool', 'failed', true],
      ['tool', 'completed', null],
      ['llm', 'completed', null],
    ]);
  });

  test('whatever a tool throws or gives, the turn says what was wrong, and its message too', async () => {
    const wrong: [string, Tools[string]['execute'], object][] = [
      ['error', () => Promise.reject(new Error('it broke')), { code: 'error', message: 'it broke' }],
      [
        'thrown',
        () => {
          throw new Error('at once');
        },
        { code: 'error', message: 'at once' },
      ],
      ['text', () => Promise.reject('just text' as never), { code: 'error', message: 'just text' }], // eslint-disable-line
      ['nothing', () => Promise.reject(undefined as never), { code: 'error' }], // eslint-disable-line
      ['code', () => Promise.reject(Object.assign(new Error('x'), { code: 'E_X' })), { code: 'E_X', message: 'x' }],
      ['no JSON', () => (() => 1) as never, { code: 'bad_request' }],
      ['late', forever, { code: 'timeout', message: 'no end within 20 ms' }],
    ];
    const bots = wrong.map(([, execute], n) =>
      defineAssistant({
        assistantId: `bot-${n}`,
        model: answering([call('it')], ['never said']),
        tools: { it: plain(execute, { timeoutMs: 20 }) },
      }),
    );
    const scene = await host(bots);
    for (const [n, [name, , error]] of wrong.entries()) {
      const turn = await scene.ask(`bot-${n}`, 'go');
      expect(turn, name).toMatchObject({ status: 'failed', stopReason: 'error', error, usage: COST });
      const [message] = await scene.messages(turn.requestId);
      expect(message, name).toMatchObject({ state: 'closed', props: { state: 'failed', error: turn.error?.message } });
    }
  });

  test('a tool is tried as often as its policy says, with the same id, each try as long as it may take', async () => {
    const tries: [string, boolean][] = [];
    const attempt = (id: string): number => tries.filter(([tried]) => tried === id).length;
    const flaky = (retry: NonNullable<Tools[string]['retry']>, good: number, how: () => unknown) =>
      plain(
        async (_, __, { toolCallId, abortSignal }) => {
          const mine: [string, boolean] = [toolCallId, false];
          tries.push(mine);
          abortSignal.addEventListener('abort', () => (mine[1] = true));
          if (attempt(toolCallId) < good) await how();
          return attempt(toolCallId);
        },
        { retry: { backoffMs: 1, ...retry }, timeoutMs: 20, onError: 'tell' },
      );
    const again = () => Promise.reject(Object.assign(new Error('busy'), { retryable: true }));
    const final = () => Promise.reject(new Error('final'));
    const tools = {
      busy: flaky({}, 3, again),
      often: flaky({ attempts: 2 }, 9, again),
      final: flaky({}, 9, final),
      stubborn: flaky({ retryable: () => true, attempts: 4 }, 4, final),
      slow: flaky({}, 2, forever),
    };
    const names = Object.keys(tools);
    const model = answering(
      names.map((name) => call(name, {}, name)),
      ['Done.'],
    );
    const { turn } = await ask(host, { model, tools });
    expect(turn).toMatchObject({ status: 'completed' });
    expect(names.map((name) => [name, attempt(name)])).toEqual([
      ['busy', 3],
      ['often', 2],
      ['final', 1],
      ['stubborn', 4],
      ['slow', 2],
    ]);
    expect(tries.filter(([name]) => name === 'slow').map(([, isAborted]) => isAborted)).toEqual([true, false]);
    expect(heard(model.doStreamCalls[1]!.prompt).at(-1)).toBe(
      'tool: busy:{"type":"json","value":3} | often:{"type":"error-text","value":"busy"} | ' +
        'final:{"type":"error-text","value":"final"} | stubborn:{"type":"json","value":4} | slow:{"type":"json","value":2}',
    );
  });

  test('TRN-5, C19: a tool that hangs is abandoned when the turn is stopped, and nothing that it does later counts', async () => {
    let late: Promise<unknown> | null = null;
    let go = (): void => undefined;
    const hang = plain(async (_, ctx, { abortSignal }) => {
      await ctx.send('Wait.');
      await new Promise<void>((resolve) => (go = resolve));
      late = ctx.send('late').then(
        () => 'taken',
        () => `refused, aborted: ${abortSignal.aborted}`,
      );
      return 'done';
    });
    const model = answering([call('hang')], ['never said']);
    const bot = defineAssistant({ assistantId: 'bot', model, tools: { hang } });
    const scene = await host([bot]);
    const { requestId, turn } = await scene.start('bot', 'go');
    await scene.shows('Wait.');
    const running = await scene.messages(requestId);
    expect(running[0]).toMatchObject({ state: 'open', props: { state: 'running', toolCallId: 'c1', tool: 'hang' } });
    await scene.stop(requestId);
    expect(await turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped', error: null });
    const [cutOff] = await scene.messages(requestId);
    expect(cutOff).toMatchObject({ state: 'closed', props: { state: 'interrupted', toolCallId: 'c1' } });
    go();
    expect(await until(() => late, 'the late message')).toBe('refused, aborted: true');
    expect(await scene.answers(requestId)).toEqual(['', 'Wait.']);
    expect((await scene.steps(requestId)).map(({ type, status }) => `${type} ${status}`)).toEqual([
      'input completed',
      'llm completed',
      'tool interrupted',
    ]);
    expect(model.doStreamCalls).toHaveLength(1);
    expect((await scene.ask('echo', 'next')).status).toBe('completed');
  });

  test('AGT-8: a tool may ask other assistants and record steps; delegating to nobody or to itself fails clearly', async () => {
    const helper = defineAssistant({ assistantId: 'helper', model: answering(['42']) });
    const research = plain(async (_, ctx) => {
      const { output } = await ctx.call('helper', 'what?');
      return ctx.step('tool', { output }, () => Number(output) + 1);
    });
    const model = answering([call('research')], ['43 it is.']);
    const { scene, turn } = await ask(host, { model, tools: { research } }, { more: [helper] });
    expect(turn).toMatchObject({ status: 'completed', usage: { totalTokens: 3 * COST.totalTokens } });
    expect(heard(model.doStreamCalls[1]!.prompt).at(-1)).toBe('tool: c1:{"type":"json","value":43}');
    expect(await scene.answers(turn.requestId)).toEqual(['', '43 it is.']);
    const nobody = await ask(host, { create: () => ({ delegate: { assistantId: 'nobody' } }) });
    expect(nobody.turn).toMatchObject({ status: 'failed', error: { code: 'agent_unavailable' } });
    expect(nobody.turn.error?.message).toMatch('nobody');
    const endless = await ask(host, { next: () => ({ delegate: { assistantId: 'bot' } }) });
    expect(endless.turn).toMatchObject({ status: 'failed', error: { code: 'bad_request' } });
    expect(endless.turn.error?.message).toMatch(/at most 32 levels/);
  });

  test('TRN-9: resumed without a tool that it had, a turn says so, and no other tool gets its place', async () => {
    const ran: string[] = [];
    const tools: Record<string, Tools[string]> = {
      gone: plain(() => 'A'),
      works: plain(() => 'B'),
      breaks: plain((_, __, { toolCallId }) => {
        ran.push(toolCallId);
        throw new Error('broken');
      }),
    };
    const model = answering([call('gone', {}, 'c1'), call('works', {}, 'c2'), call('breaks', {}, 'c3')]);
    const scene = await host([defineAssistant({ assistantId: 'bot', model, tools })]);
    const { requestId } = await scene.ask('bot', 'go');
    const { gone, ...others } = tools;
    delete tools['gone'];
    expect(await scene.resume(requestId)).toMatchObject({ status: 'failed', error: { code: 'resume_mismatch' } });
    expect(ran).toEqual(['c3']);
    Object.assign(tools, { ...others, gone, breaks: plain(() => 'C') });
    model.doStream = answering(['Done.']).doStream;
    expect(await scene.resume(requestId)).toMatchObject({ status: 'completed', attempt: 3 });
    const outputs = (await scene.steps(requestId)).filter(({ type }) => type === 'tool').map(({ output }) => output);
    expect(outputs).toEqual([{ result: 'A' }, { result: 'B' }, { result: 'C' }]);
  });
});
