import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant } from '../../assistant/index.js';
import type { Step } from '../../protocol/index.js';
import { hosts } from './assistant-hosts.js';
import { forever } from './assistant-watch.js';
import { scripted } from '../harness/scripted-model.js';

/** The seed's own example of one assistant that hands over to another: what it records, and how it goes on. */

interface Line {
  readonly seq: number;
  readonly assistant: string;
  readonly stack: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly type: string;
  readonly status: string;
  readonly space: unknown;
}

/** Steps as the seed prints them, with its names for the stacks. */
function table(steps: readonly Step[]): Line[] {
  const names = new Map<string, string>();
  const nameOf = (stackId: string): string => {
    const name = names.get(stackId) ?? `stk_00${names.size + 1}`;
    names.set(stackId, name);
    return name;
  };
  return steps.map((step) => ({
    seq: step.sequence,
    assistant: step.assistantId,
    stack: nameOf(step.stackId),
    parent: step.stackParentId === null ? null : nameOf(step.stackParentId),
    depth: step.stackDepth,
    type: step.type,
    status: step.status,
    space: step.spaceSnapshot,
  }));
}

describe.each(hosts)('$name', ({ host }) => {
  test('golden A2A: five rows when the visualizer is interrupted, and the six points of its resume', async () => {
    let hang = true;
    const ran: string[] = [];
    const analyzer: Assistant = defineAssistant({
      assistantId: 'analyzer',
      async run(ctx) {
        const messages = ctx.input.map(({ type, props }) => ({ type, props }));
        await ctx.step('input', { messages }, () => void ran.push('analyzer input'));
        await ctx.step('llm', { messages }, async () => {
          ran.push('analyzer llm');
          await ctx.send('These are the numbers.');
          return { content: 'These are the numbers.' };
        });
        await ctx.space.set('choose_prompt', 'query');
        return ctx.delegate('visualizer', ctx.input);
      },
    });
    const model = scripted(() => {
      ran.push('visualizer llm');
      return hang ? ['A chart', forever] : ['A chart of it'];
    });
    const visualizer: Assistant = defineAssistant({ assistantId: 'visualizer', model });
    const scene = await host([analyzer, visualizer]);
    const { requestId } = await scene.start('analyzer', 'analyze this data and visualize it');
    await scene.shows('These are the numbers.A chart');
    await scene.stop(requestId);
    const query = { choose_prompt: 'query' };
    const root = { assistant: 'analyzer', stack: 'stk_001', parent: null, depth: 0 };
    const child = { assistant: 'visualizer', stack: 'stk_002', parent: 'stk_001', depth: 1 };
    const before = await scene.steps(requestId);
    expect(table(before)).toEqual([
      { seq: 1, ...root, type: 'input', status: 'completed', space: {} },
      { seq: 2, ...root, type: 'llm', status: 'completed', space: {} },
      { seq: 3, ...root, type: 'delegate', status: 'running', space: query },
      { seq: 4, ...child, type: 'input', status: 'completed', space: query },
      { seq: 5, ...child, type: 'llm', status: 'interrupted', space: query },
    ]);

    // 1: the interrupted step is found.
    const { step } = await scene.get<{ step: Step }>(`/v1/chats/${scene.chatId}/incomplete-step`);
    expect(step.stepId).toBe(before[4]?.stepId);
    // 3, 4: it is a nested call, and its stack leads to the root.
    expect(step.stackDepth).toBe(1);
    const { path } = await scene.get<{ path: string[] }>(`/v1/stacks/${step.stackId}/path`);
    expect(path).toEqual([before[0]?.stackId, before[4]?.stackId]);

    hang = false;
    ran.length = 0;
    const turn = await scene.resume(requestId);
    expect(turn).toMatchObject({ status: 'completed', attempt: 2 });
    // 2, 5: the visualizer goes on with the step's input and the space of then; nothing that was done is done again.
    expect(ran).toEqual(['visualizer llm']);
    const after = await scene.steps(requestId);
    expect([after[4]?.input, after[4]?.spaceSnapshot]).toEqual([before[4]?.input, query]);
    expect(model.doStreamCalls[1]?.prompt).toEqual(model.doStreamCalls[0]?.prompt);
    // 6: then the delegate step is completed.
    expect(table(after).map(({ type, status }) => [type, status])).toEqual([
      ['input', 'completed'],
      ['llm', 'completed'],
      ['delegate', 'completed'],
      ['input', 'completed'],
      ['llm', 'completed'],
    ]);
    expect(after.map(({ stepId }) => stepId)).toEqual(before.map(({ stepId }) => stepId));
    expect(await scene.answers(requestId)).toEqual(['These are the numbers.', 'A chart of it']);
  });
});
