import { describe, expect, it, vi } from 'vitest';
import { defineAssistant, type Assistant, type Context } from '../../../client/agent/index.js';
import { agentScene, assigned, attach, held, reattach, STACK } from './agent-scene.js';
import { settle } from './fake-clock.js';
import { ModelFrame } from './model-frame.js';
import { chatRow, turnRow } from './rows.js';

/** A run that ends when the test says so, and tells what it was given. */
function controlled(): { run: Assistant['run']; contexts: Context[]; finish: (output?: string) => void } {
  const contexts: Context[] = [];
  const ends: ((output: string | void) => void)[] = [];
  return {
    contexts,
    run: (ctx) =>
      new Promise((resolve) => {
        contexts.push(ctx);
        ends.push(resolve);
      }),
    finish: (output) => ends.shift()?.(output),
  };
}

describe('an agent', () => {
  it('attaches with what it offers, and says so', async () => {
    const scene = agentScene(() => undefined, { concurrency: 3, token: 'secret' });
    expect((await scene.network.next()).handshake).toEqual({ token: 'secret', protocol: 1 });
    expect(scene.agent.state.getSnapshot()).toMatchObject({ attached: false, running: 0, draining: false });
    const link = await attach(scene);
    expect(link.last('agent:attach').args).toEqual({
      agentId: 'agent-1',
      assistants: [{ assistantId: 'bot', name: 'bot' }],
      concurrency: 3,
    });
    expect(scene.agent.state.getSnapshot()).toMatchObject({ attached: true, connection: { status: 'open' } });
  });

  it('tries to attach again where the server cannot now, and closes where it never will', async () => {
    const scene = agentScene(() => undefined);
    const link = (await scene.network.next()).opened();
    link.last('agent:attach').refuse('storage_unavailable');
    scene.clock.advance(250);
    expect(link.of('agent:attach')).toHaveLength(2);
    link.last('agent:attach').refuse('forbidden');
    expect(scene.agent.state.getSnapshot().connection).toMatchObject({
      status: 'closed',
      error: { code: 'forbidden' },
    });
  });

  it('takes a turn, runs it, and closes it with what came out', async () => {
    const scene = agentScene(async (ctx) => {
      const messageId = await ctx.send('');
      for (const word of ['one ', 'two ', 'three']) await ctx.append(messageId, word);
      await ctx.end(messageId);
      return { words: 3 };
    });
    const link = await attach(scene);
    const model = new ModelFrame();
    expect(link.emit('turn:assigned', assigned('turn-1'))).toEqual([{ ok: true }]);
    let served = 1;
    for (let round = 0; round < 10; round++) {
      await settle();
      scene.clock.advance(5);
      for (; served < link.sent.length; served++) model.serve(link.sent[served]!);
    }
    expect(model.applied).toEqual(['send', 'one ', 'two ', 'three', 'end']);
    expect(model.closed).toMatchObject({
      requestId: 'turn-1',
      attempt: 1,
      stackId: STACK,
      status: 'completed',
      output: { words: 3 },
    });
    expect(scene.agent.state.getSnapshot().running).toBe(0);
  });

  it('closes as failed what throws, and what promises no JSON', async () => {
    const results: Assistant['run'][] = [
      () => Promise.reject(new Error('no model')),
      () => new Date(0) as never,
      () => 'x'.repeat(2_000_000),
    ];
    const scene = agentScene((ctx) => results.shift()?.(ctx));
    const link = await attach(scene);
    for (const requestId of ['turn-1', 'turn-2', 'turn-3']) link.emit('turn:assigned', assigned(requestId));
    await settle();
    expect(
      link.of('turn:close').map(({ args }) => [args['status'], (args['error'] as { code: string } | null)?.code]),
    ).toEqual([
      ['failed', 'error'],
      ['failed', 'bad_request'],
      ['failed', 'payload_too_large'],
    ]);
  });

  it('AGT-5: runs an assignment once, however often it comes', async () => {
    const { run, contexts, finish } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    expect(link.emit('turn:assigned', assigned('turn-1'))).toEqual([{ ok: true }]);
    expect(link.emit('turn:assigned', assigned('turn-1'))).toEqual([{ ok: true }]);
    finish();
    await settle();
    link.last('turn:close').ok({ turn: turnRow('turn-1'), persisted: true });
    await settle();
    expect(link.emit('turn:assigned', assigned('turn-1'))).toEqual([{ ok: true }]);
    expect(contexts).toHaveLength(1);
  });

  it('refuses what it has no place for, what it does not serve, and what it cannot read', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run, { concurrency: 1 });
    const link = await attach(scene);
    const other = assigned('turn-0', { turn: turnRow('turn-0', { assistantId: 'other' }) });
    expect(link.emit('turn:assigned', other)).toMatchObject([{ ok: false, error: { code: 'agent_unavailable' } }]);
    expect(link.emit('turn:assigned', { turn: 7 })).toMatchObject([{ ok: false, error: { code: 'bad_request' } }]);
    link.emit('turn:assigned', assigned('turn-1'));
    expect(link.emit('turn:assigned', assigned('turn-2'))).toMatchObject([
      { ok: false, error: { code: 'agent_unavailable' } },
    ]);
    link.emit('turn:abort', { requestId: 'turn-1', attempt: 1, stackId: STACK, reason: 'stopped' });
    expect(link.emit('turn:assigned', assigned('turn-3'))).toEqual([{ ok: true }]);
    expect(contexts).toHaveLength(2);
  });

  it('AGT-8: runs the assistant that was called in a child frame', async () => {
    const ran: string[] = [];
    const bots = ['bot', 'helper'].map((assistantId) =>
      defineAssistant({ assistantId, run: () => void ran.push(assistantId) }),
    );
    const scene = agentScene(() => undefined, { assistants: bots });
    const link = await attach(scene);
    link.emit(
      'turn:assigned',
      assigned('turn-1', { assistantId: 'helper', stackId: 'stack-of-a-child', stackParentId: STACK, stackDepth: 1 }),
    );
    expect(ran).toEqual(['helper']);
  });

  it('AGT-3, TRN-5: an abort fires the signal with its reason, and nothing more is sent', async () => {
    const { run, contexts, finish } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    link.emit('turn:assigned', assigned('turn-1'));
    const [ctx] = contexts;
    const unsent = ctx!.append('message-1', 'late').catch((error: { code: string }) => error.code);
    link.emit('turn:abort', { requestId: 'turn-1', attempt: 1, stackId: STACK, reason: 'stopped' });
    expect(ctx!.abortSignal.aborted).toBe(true);
    expect(ctx!.abortSignal.reason).toMatchObject({ name: 'stopped' });
    expect(await unsent).toBe('turn_ended');
    finish();
    await settle();
    scene.clock.advance(1_000);
    expect(link.sent.map(({ command }) => command)).toEqual(['agent:attach']);
  });

  it('AGT-3: a newer attempt takes the place of one that still runs', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    link.emit('turn:assigned', assigned('turn-1'));
    link.emit('turn:assigned', assigned('turn-1', { turn: turnRow('turn-1', { assistantId: 'bot', attempt: 2 }) }));
    expect(contexts.map(({ abortSignal }) => abortSignal.aborted)).toEqual([true, false]);
    expect(scene.agent.state.getSnapshot().running).toBe(1);
  });

  it('AGT-4: goes on over a reconnection with what the server still gives it', async () => {
    const { run, contexts, finish } = controlled();
    const scene = agentScene(run);
    const first = await attach(scene);
    first.emit('turn:assigned', assigned('turn-1'));
    first.emit('turn:assigned', assigned('turn-2'));
    const pushes = contexts.map((ctx) => ctx.append('message-1', 'a').catch((error: { code: string }) => error.code));
    await settle();
    expect(first.of('turn:push')).toHaveLength(2);
    const link = await reattach(scene, [held('turn-1', 0)]);
    expect(contexts.map(({ abortSignal }) => abortSignal.aborted)).toEqual([false, true]);
    expect(contexts[1]!.abortSignal.reason).toMatchObject({ name: 'agent_lost' });
    expect(link.last('turn:push').args).toMatchObject({ requestId: 'turn-1', seq: 1 });
    link.last('turn:push').ok({ seq: 1 });
    expect(await Promise.all(pushes)).toEqual([undefined, 'turn_ended']);
    finish();
    await settle();
    expect(link.last('turn:close').args).toMatchObject({ requestId: 'turn-1', seq: 2, status: 'completed' });
  });

  it('AGT-4: asks again for the answer to a close that was lost', async () => {
    const { run, finish } = controlled();
    const scene = agentScene(run);
    (await attach(scene)).emit('turn:assigned', assigned('turn-1'));
    finish();
    await settle();
    const link = await reattach(scene, []);
    expect(link.last('turn:close').args).toMatchObject({ seq: 1, status: 'completed' });
    link.last('turn:close').ok({ turn: turnRow('turn-1'), persisted: true });
    await settle();
    expect(scene.agent.state.getSnapshot().running).toBe(0);
  });

  it('AGT-4: ends its frames when it has been without a connection for long', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run, { lostAfterMs: 20_000 });
    (await attach(scene)).emit('turn:assigned', assigned('turn-1'));
    scene.network.link.drop();
    scene.clock.advance(19_999);
    expect(contexts[0]!.abortSignal.aborted).toBe(false);
    scene.clock.advance(1);
    expect(contexts[0]!.abortSignal.reason).toMatchObject({ name: 'agent_lost' });
  });

  it('AGT-4: begins a frame that was assigned and not heard of, and gives up one that an earlier life began', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene, [held('turn-1', 0), held('turn-2', 7)]);
    expect(link.last('turn:close').args).toMatchObject({ requestId: 'turn-2', seq: 8, status: 'interrupted' });
    expect(link.last('turn:input').args).toEqual({ requestId: 'turn-1', stackId: STACK });
    link.last('turn:input').ok(assigned('turn-1'));
    await settle();
    expect(contexts.map(({ turn }) => turn.requestId)).toEqual(['turn-1']);
  });

  it('CON-6: ends its frames and stays away when another has taken its name', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    link.emit('turn:assigned', assigned('turn-1'));
    link.emit('goaway', { code: 'replaced', reconnect: false });
    link.drop();
    expect(contexts[0]!.abortSignal.reason).toMatchObject({ name: 'replaced' });
    expect(scene.agent.state.getSnapshot()).toMatchObject({
      running: 0,
      connection: { status: 'closed', error: { code: 'conflict' } },
    });
    expect(scene.clock.pending).toBe(0);
  });

  it('opens a turn of its own, once, and runs it', async () => {
    const scene = agentScene(() => undefined);
    const opening = scene.agent.openTurn({ chatId: 'chat-1', assistantId: 'bot' }, async (ctx) => {
      await ctx.send('the report');
    });
    const first = await attach(scene);
    const { args } = first.last('turn:open');
    // The answer is lost; the server has opened it.
    const link = await reattach(scene, [{ ...held(String(args['requestId']), 0) }]);
    expect(link.last('turn:open').args).toEqual(args);
    const turn = turnRow(String(args['requestId']), { assistantId: 'bot', background: true });
    link.last('turn:open').ok({ turn, attempt: 1, stackId: STACK });
    await settle();
    link.last('chat:get').ok({ chat: chatRow() });
    const opened = await opening;
    await settle();
    expect(link.of('turn:input')).toEqual([]);
    expect(link.last('turn:push').args).toMatchObject({
      requestId: turn.requestId,
      seq: 1,
      ops: [{ op: 'send', type: 'text' }],
    });
    link.last('turn:push').ok({ seq: 1 });
    await settle();
    link.last('turn:close').ok({ turn: { ...turn, status: 'completed' }, persisted: true });
    await expect(opened.ended).resolves.toMatchObject({
      status: 'completed',
      turn: { status: 'completed' },
      persisted: true,
    });
  });

  it('closes after what runs has ended, and takes nothing new', async () => {
    const { run, finish } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    link.emit('turn:assigned', assigned('turn-1'));
    const closed = vi.fn();
    void scene.agent.close().then(closed);
    expect(link.emit('turn:assigned', assigned('turn-2'))).toMatchObject([{ ok: false, error: { code: 'draining' } }]);
    finish();
    await settle();
    link.last('turn:close').ok({ turn: turnRow('turn-1'), persisted: true });
    await settle();
    expect(closed).toHaveBeenCalled();
    expect(scene.agent.state.getSnapshot()).toMatchObject({
      attached: false,
      draining: true,
      connection: { status: 'closed' },
    });
    expect(link.state).toBe('gone');
    expect(scene.clock.pending).toBe(0);
  });

  it('closes at once where it is told to: what runs is interrupted, and can be resumed', async () => {
    const { run, contexts } = controlled();
    const scene = agentScene(run);
    const link = await attach(scene);
    link.emit('turn:assigned', assigned('turn-1'));
    const closing = scene.agent.close({ drain: false });
    await settle();
    expect(contexts[0]!.abortSignal.reason).toMatchObject({ name: 'shutdown' });
    link.last('turn:close').ok({ turn: turnRow('turn-1'), persisted: true });
    await closing;
    expect(link.last('turn:close').args).toMatchObject({ status: 'interrupted' });
    expect(scene.clock.pending).toBe(0);
  });
});
