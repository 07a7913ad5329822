import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { OpInput, Step } from '../../protocol/index.js';
import { sceneOn } from '../contract/assistant-hosts.js';
import { Agent, type Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { agentOf } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

const begin = (stepId: string, more: Partial<Extract<OpInput, { op: 'step.start' }>> = {}): OpInput => ({
  op: 'step.start',
  stepId,
  type: 'llm',
  ...more,
});
const end = (stepId: string, more: Partial<Extract<OpInput, { op: 'step.end' }>> = {}): OpInput => ({
  op: 'step.end',
  stepId,
  status: 'completed',
  ...more,
});
const say = (content: string): OpInput => ({ op: 'send', messageId: uid('m'), type: 'text', props: { content } });
const stepsOf = async ({ person }: Scene, { requestId }: Run): Promise<Step[]> =>
  (await person.do<{ steps: Step[] }>('step:list', { requestId })).steps;
const nth = (agent: Agent, index: number): Promise<Run> => until(() => agent.runs[index], 'turn:assigned of a call');

/** A call of `helper` in each of two attempts: shown in the first one, which fails, and not in the second. */
async function calledTwice(here: Scene, first: (child: Run) => Promise<unknown>) {
  const helper = await new Agent(here.url, ['helper']).join();
  const run = await here.turn();
  const [childStackId, step] = [uid('stack'), uid('step')];
  await run.push(begin(step, { type: 'delegate', metadata: { childStackId } }));
  run.delegate('helper', 'go', { childStackId }).catch(() => undefined);
  await first(await nth(helper, 0));
  await run.close('failed');
  await here.person.ended(here.chatId, run.requestId, 1);
  await here.person.do('turn:resume', { requestId: run.requestId, attempt: 2 });
  const again = await here.agent.run(run.requestId, 2);
  await again.push(begin(step, { type: 'delegate' }));
  const answer = again.delegate('helper', 'go', { childStackId, show: false });
  return { again, child: await nth(helper, 1), answer };
}

describe('AGT-2, AGT-3: steps are written by the frame that runs their stack, or by one above it', () => {
  test('a call can neither begin, end nor use a step of its caller; the caller can', async () => {
    const here = await scene();
    const helper = await new Agent(here.url, ['helper']).join();
    const run = await here.turn();
    const step = uid('step');
    await run.push(begin(step, { type: 'delegate' }));
    const answer = run.delegate('helper', 'go');
    const child = await nth(helper, 0);
    const forged: OpInput[] = [
      end(step, { output: 'forged' }),
      begin(uid('step'), { stackId: run.stackId }),
      begin(uid('step'), { stackId: uid('stack'), stackParentId: run.stackId }),
      { ...say('forged'), stepId: step } as OpInput,
    ];
    for (const op of forged) {
      await expect(child.push(op)).rejects.toMatchObject({ error: { code: 'bad_request', details: { index: 0 } } });
      child.seq--;
    }
    const own = uid('step');
    await child.push(begin(uid('step'), { stackId: uid('stack') }), begin(own), say('hers'), end(own));
    await child.close();
    await answer;
    await run.push(end(step));
    await run.close();
    await here.person.ended(here.chatId, run.requestId, 1);
    expect((await stepsOf(here, run)).find(({ stepId }) => stepId === step)).toMatchObject({ output: null });
    await expectConsistent(here.url, here.chatId, [here.person]);
  });

  test('a refused push takes no place in the call stack', async () => {
    const here = await scene();
    const run = await here.turn();
    const [stackId, one, other, step] = [uid('stack'), uid('stack'), uid('stack'), uid('step')];
    await run.push(begin(uid('step'), { stackId: one }), begin(uid('step'), { stackId: other }));
    const refused = run.push(
      begin(uid('step'), { stackId, stackParentId: one, assistantId: 'wrong' }),
      end(uid('no-step')),
    );
    await expect(refused).rejects.toMatchObject({ error: { code: 'bad_request', details: { index: 1 } } });
    run.seq--;
    await run.push(begin(step, { stackId, stackParentId: other, assistantId: 'right' }));
    const begun = (await stepsOf(here, run)).find(({ stepId }) => stepId === step);
    expect(begun).toMatchObject({ stackParentId: other, assistantId: 'right' });
    await run.close();
  });
});

describe('DAT-4: a call that is not shown', () => {
  test('what its step had shown in an earlier attempt is deleted for everybody when it completes', async () => {
    const here = await scene();
    const step = uid('step');
    const { again, child, answer } = await calledTwice(here, (shown) => shown.push(begin(step), say('old')));
    await child.push(begin(step), say('hidden'), end(step));
    await child.close();
    expect((await answer).messages.map(({ props }) => props['content'])).toEqual(['hidden']);
    await again.close();
    await here.person.ended(here.chatId, again.requestId, 2);
    await expectConsistent(here.url, here.chatId, [here.person]);
    expect(here.view.text(again.requestId)).toBe('');
  });

  test('TRN-9: what an agent writes where the server keeps hidden messages keeps no call from being resumed', async () => {
    const here = await scene();
    const step = uid('step');
    const { child, answer, again } = await calledTwice(here, (shown) =>
      shown.push(begin(step, { metadata: { said: 5 } }), end(step, { metadata: { said: [null, {}] } })),
    );
    await child.close();
    expect(await answer).toMatchObject({ status: 'completed', messages: [] });
    await again.close();
  });
});

describe('DAT-3: what a turn holds', () => {
  test('keys of the space count', async () => {
    const here = await scene({ env: { MAX_TURN_BYTES: '1048576' } });
    const run = await here.turn();
    const set = (at: number): OpInput[] =>
      Array.from({ length: 1000 }, (_, index) => ({
        op: 'space.set',
        key: `${'k'.repeat(190)}${at}-${index}`,
        value: 0,
      }));
    for (let at = 0; at < 5; at++) await run.push(...set(at));
    await expect(run.push(...set(5))).rejects.toMatchObject({
      error: { code: 'payload_too_large', details: { limit: 'maxTurnBytes' } },
    });
  });

  test('a few words do not write many megabytes again and again', async () => {
    const here = await scene({ env: { MAX_TURN_BYTES: '1048576' } });
    const run = await here.turn();
    const step = uid('step');
    await run.push(begin(step, { input: 'x'.repeat(500_000) }), end(step, { status: 'failed' }));
    const marks = Array.from({ length: 100 }, () => end(step, { status: 'failed', metadata: { handled: true } }));
    await expect(run.push(...marks)).rejects.toMatchObject({
      error: { code: 'payload_too_large', details: { limit: 'maxTurnBytes' } },
    });
    run.seq--;
    await run.push(...marks.slice(0, 2));
    await run.close('failed');
    await here.person.ended(here.chatId, run.requestId, 1);
  });

  test('calls count, and a repeated delegation is answered with the space', async () => {
    const here = await scene({ env: { MAX_TURN_BYTES: '1048576' } });
    const run = await here.turn();
    await run.push({ op: 'space.set', key: 'topic', value: 'cats' });
    const first = await run.delegate('echo', 'hi', { show: false });
    run.seq--;
    expect(await run.delegate('echo', 'hi', { show: false })).toEqual(first);
    expect(first.space).toEqual({ topic: 'cats' });
    const refused: unknown[] = [];
    const ask = () => run.delegate('echo', 'hi', { show: false }).catch((error: unknown) => void refused.push(error));
    for (let batch = 0; batch < 3; batch++) await Promise.all(Array.from({ length: 400 }, ask));
    expect(refused[0]).toMatchObject({ error: { code: 'payload_too_large', details: { limit: 'maxTurnBytes' } } });
  });
});

describe('ACC-2: steps of a stack', () => {
  test('who names the stack of another chat sees only his own steps there, and hides none', async () => {
    const here = await scene();
    const run = await here.turn();
    const stackId = uid('stack');
    await run.push(begin(uid('step')), begin(uid('step'), { stackId, input: { secret: 1 } }));
    await run.close();
    await here.person.ended(here.chatId, run.requestId, 1);

    const as = { userId: 'mallory', tenantId: 'elsewhere', roles: ['agent', 'user'] };
    const agent = await new Agent(here.url, ['bot'], { as }).join();
    const mallory = await new Person(here.url, as).open();
    const chatId = await mallory.createChat({ assistantId: 'bot' });
    await mallory.follow(chatId);
    const requestId = uid('r');
    await mallory.start(chatId, 'go', { requestId });
    const his = await agent.run(requestId);
    const seen = async (headers: Record<string, string>): Promise<Step[]> =>
      ((await (await fetch(`${here.url}/v1/stacks/${stackId}/steps`, { headers })).json()) as { steps: Step[] }).steps;
    const check = async (): Promise<void> => {
      expect((await seen({ 'x-user-id': 'mallory', 'x-tenant-id': 'elsewhere' })).map((step) => step.chatId)).toEqual([
        chatId,
      ]);
      expect((await seen({})).map(({ input }) => input)).toEqual([{ secret: 1 }]);
    };
    await his.push(begin(uid('step'), { stackId }));
    await check();
    await his.close();
    await mallory.ended(chatId, requestId, 1);
    await check();
  });
});

describe('AGT-5, AGT-8: the agent SDK', () => {
  test('a call within a turn that it runs finds room, whatever its concurrency', async () => {
    const { url } = await startServer({ env: { AGENT_WAIT_MS: '3000' } });
    const inner = defineAssistant({ assistantId: 'inner', run: () => 'found' });
    const outer = defineAssistant({
      assistantId: 'outer',
      run: async (ctx) => void (await ctx.send((await ctx.delegate('inner', 'x')) as string)),
    });
    await agentOf(url, [inner, outer], { auth: { userId: 'agent', roles: ['agent'] }, concurrency: 1 });
    const here = await sceneOn(url);
    const { status, error, requestId } = await here.ask('outer', 'x');
    expect([status, error]).toEqual(['completed', null]);
    expect(await here.answers(requestId)).toEqual(['found']);
  });
});

describe('TRN-5: an assistant that waits again and again', () => {
  test('it stops no process when its turn was stopped', async () => {
    let rounds = 0;
    const stubborn = defineAssistant({
      assistantId: 'stubborn',
      async run(ctx) {
        await ctx.send('go');
        while (rounds < 1_000_000) {
          try {
            rounds++;
            await ctx.wait(60_000);
          } catch {
            // Once more: code that catches everything is not rare.
          }
        }
      },
    });
    const here = await sceneOn((await startServer({ assistants: [stubborn] })).url);
    const { requestId, turn } = await here.start('stubborn', 'x');
    await here.shows('go');
    await here.stop(requestId);
    expect((await turn).stopReason).toBe('stopped');
    expect(rounds).toBeLessThan(1_000_000);
    rounds = 1_000_000;
  });
});
