import { describe, expect, test } from 'vitest';
import { createYaoStore, MemorySpace, type ChatStore, type NewStep } from '../../stores/yao/index.js';
import { uid } from '../harness/peer.js';
import { scene } from './scene.js';
import { commandsOn, HOSTS, type Host } from './stores-hosts.js';
import { expectRefused, yaoOn } from './stores-yao-scene.js';

async function chatOn(host: Host) {
  const { store, ...rest } = await yaoOn(host);
  const { chatId } = await store.createChat({ assistantId: 'analyzer' });
  const [requestId, root, child] = [uid('r'), uid('k'), uid('k')];
  const step = (more: Partial<NewStep> = {}): NewStep => ({
    ...{ chatId, requestId, assistantId: 'analyzer', stackId: root, type: 'llm', status: 'completed' },
    ...more,
  });
  return { store, ...rest, chatId, requestId, root, child, step };
}

const nobody = undefined as unknown as string;

/** The seed's table of a delegation that was interrupted. */
async function delegation(store: ChatStore, step: (more?: Partial<NewStep>) => NewStep, child: string, root: string) {
  const below = { assistantId: 'visualizer', stackId: child, stackParentId: root, stackDepth: 1 };
  const spaceSnapshot = { choose_prompt: 'query' };
  await store.saveSteps([
    step({ type: 'input', spaceSnapshot: {} }),
    step({ spaceSnapshot: {} }),
    step({ type: 'delegate', status: 'running', spaceSnapshot }),
    step({ ...below, type: 'input', spaceSnapshot }),
    step({ ...below, status: 'interrupted', input: { messages: ['draw'] }, spaceSnapshot }),
  ]);
}

describe.each(HOSTS)('yao steps, %s', (host) => {
  test('seed 60: one comes back with all its fields, as it was saved', async () => {
    const { store, chatId, requestId, root, child, step } = await chatOn(host);
    const full = {
      ...{ stepId: uid('s'), stackId: child, stackParentId: root, stackDepth: 1, type: 'tool', status: 'failed' },
      ...{ input: { tool: 'x', args: [1] }, output: { result: null }, error: 'it broke', metadata: { try: 2 } },
      spaceSnapshot: { deep: { er: [true] } },
    };
    const [saved] = await store.saveSteps([{ ...step(full), sequence: 9, createdAt: 'never' } as NewStep]);
    expect(saved).toEqual({
      ...{ ...full, chatId, requestId, assistantId: 'analyzer', sequence: 1 },
      ...{ createdAt: saved?.createdAt, updatedAt: saved?.createdAt },
    });
    expect(await store.getSteps(requestId)).toEqual([saved]);
    const [plain] = await store.saveSteps([step({ stepId: '', stackParentId: null, error: '' })]);
    expect(plain).toEqual({
      ...{ stepId: plain?.stepId, chatId, requestId, assistantId: 'analyzer', stackId: root, stackDepth: 0 },
      ...{ type: 'llm', status: 'completed', sequence: 2, createdAt: plain?.createdAt, updatedAt: plain?.createdAt },
    });
  });

  test.each(['input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate'])(
    'seed 40, 60: a step of type %s is kept, in every status',
    async (type) => {
      const { store, requestId, step } = await chatOn(host);
      const all = ['pending', 'running', 'completed', 'failed', 'interrupted'];
      await store.saveSteps(all.map((status) => step({ type, status })));
      expect((await store.getSteps(requestId)).map((one) => [one.sequence, one.type, one.status])).toEqual(
        all.map((status, index) => [index + 1, type, status]),
      );
    },
  );

  test('seed 60: none is a success; of which any of six fields is missing, all are refused', async () => {
    const { store, requestId, chatId, step } = await chatOn(host);
    for (const none of [[], [null], null]) expect(await store.saveSteps(none as unknown as NewStep[])).toEqual([]);
    for (const [key, field] of [
      ['chatId', 'chat_id'],
      ['requestId', 'request_id'],
      ['assistantId', 'assistant_id'],
      ['stackId', 'stack_id'],
      ['type', 'type'],
      ['status', 'status'],
    ])
      for (const none of ['', undefined, null])
        await expectRefused(
          store.saveSteps([step(), { ...step(), [key!]: none }]),
          'bad_request',
          `${field} is required`,
        );
    for (const bad of [
      { type: 'think' },
      { status: 'done' },
      { stepId: 's.1' },
      { stackDepth: -1 },
      { spaceSnapshot: [] },
    ])
      await expectRefused(store.saveSteps([step(), step(bad as Partial<NewStep>)]), 'bad_request', /./);
    await expectRefused(store.saveSteps([step({ chatId: 'c'.repeat(65) })]), 'not_found', 'not found');
    await expectRefused(store.saveSteps([step({ chatId: uid('c') })]), 'not_found', 'not found');
    const other = await store.createChat({ assistantId: 'bot' });
    const elsewhere = step({ chatId: other.chatId, requestId: uid('r') });
    await expectRefused(store.saveSteps([step(), elsewhere]), 'bad_request', 'one chat at a time');
    expect(await store.getSteps(requestId)).toEqual([]);
    expect(await store.getLastIncompleteStep(chatId)).toBeNull();
  });

  test('a step again is changed, and stays where it was; a completed one stays as it is; an id of another is refused', async () => {
    const { store, requestId, step } = await chatOn(host);
    const stepId = uid('s');
    await store.saveSteps([step({ stepId, status: 'running', input: { a: 1 } }), step()]);
    await store.saveSteps([step({ stepId, output: { b: 2 } }), step({ status: 'failed' })]);
    await store.saveSteps([step({ stepId, status: 'failed' })]);
    expect(await store.getSteps(requestId)).toMatchObject([
      { stepId, sequence: 1, status: 'completed', input: { a: 1 }, output: { b: 2 } },
      { sequence: 2 },
      { sequence: 3, status: 'failed' },
    ]);
    await expectRefused(
      store.saveSteps([step(), step({ stepId, requestId: uid('r') })]),
      'conflict',
      `step ${stepId} already exists`,
    );
    expect(await store.getSteps(requestId)).toHaveLength(3);
  });

  test('an update changes what it names; ids and times are passed over; what is unknown or does not change is refused', async () => {
    const { server, store, requestId, step, storeOf } = await chatOn(host);
    const [saved] = await store.saveSteps([step({ status: 'running', input: { a: 1 }, error: 'old' })]);
    const { stepId } = saved!;
    const update = (updates: unknown, id = stepId) => store.updateStep(id, updates as Record<string, unknown>);
    await update({ status: 'interrupted', error: 'cut', spaceSnapshot: { k: 1 }, metadata: { m: 1 }, chatId: 'x' });
    const [now] = await store.getSteps(requestId);
    expect(now).toEqual({
      ...{ ...saved, status: 'interrupted', error: 'cut', spaceSnapshot: { k: 1 }, metadata: { m: 1 } },
      updatedAt: now?.updatedAt,
    });
    await expectRefused(update({ status: 'failed' }, ''), 'bad_request', 'step_id is required');
    for (const none of [{}, null, { stepId: 'x', createdAt: 'y' }])
      await expectRefused(update(none), 'bad_request', 'no fields to update');
    for (const bad of ['input', 'type', 'sequence'])
      await expectRefused(update({ status: 'failed', [bad]: 'x' }), 'bad_request', `${bad} cannot be updated`);
    await expectRefused(update({ status: 'done' }), 'bad_request', /./);
    for (const id of [uid('s'), 'no id'])
      await expectRefused(update({ status: 'failed' }, id), 'not_found', `step ${id} not found`);
    await expectRefused(
      storeOf({ userId: 'user2' }).updateStep(stepId, { status: 'failed' }),
      'not_found',
      'not found',
    );
    expect(await store.getSteps(requestId)).toEqual([now]);
    await update({ status: 'completed', output: { b: 2 }, error: '', metadata: null });
    await update({ status: 'failed', error: 'late' });
    const [last] = await store.getSteps(requestId);
    expect(last).toMatchObject({ status: 'completed', output: { b: 2 }, input: { a: 1 } });
    expect(last).not.toHaveProperty('error');
    expect(last).not.toHaveProperty('metadata');
    // An empty text is no error for the others either.
    const rows = await server.as({ userId: 'user1' }).call('step:list', { requestId });
    expect(rows.steps[0]?.error).toBeNull();
  });

  test('seed 61: of a request ascending, not those of another; without an id refused, of an unknown one none', async () => {
    const { store, requestId, step, storeOf } = await chatOn(host);
    const other = uid('r');
    await store.saveSteps([step(), step({ requestId: other })]);
    await store.saveSteps([step({ type: 'tool' }), step({ requestId: other, type: 'input' })]);
    const shown = async (id: string) => (await store.getSteps(id)).map(({ sequence, type }) => [sequence, type]);
    expect(await shown(requestId)).toEqual([
      [1, 'llm'],
      [2, 'tool'],
    ]);
    expect(await shown(other)).toEqual([
      [1, 'llm'],
      [2, 'input'],
    ]);
    for (const id of [uid('r'), 'no id']) expect(await store.getSteps(id)).toEqual([]);
    expect(await storeOf({ userId: 'user2' }).getSteps(requestId)).toEqual([]);
    for (const none of ['', nobody]) await expectRefused(store.getSteps(none), 'bad_request', 'request_id is required');
  });

  test('seed 62: the last of three that stopped, with its error; none is null; without an id refused', async () => {
    const { store, chatId, step } = await chatOn(host);
    expect(await store.getLastIncompleteStep(chatId)).toBeNull();
    await store.saveSteps([step(), step()]);
    expect(await store.getLastIncompleteStep(chatId)).toBeNull();
    await store.saveSteps([step({ status: 'failed', error: 'it broke' })]);
    expect(await store.getLastIncompleteStep(chatId)).toMatchObject({ sequence: 3, error: 'it broke' });
    // Of two requests the newer, though its sequence is the lower.
    await store.saveSteps([step({ requestId: uid('r'), status: 'pending' })]);
    expect(await store.getLastIncompleteStep(chatId)).toMatchObject({ sequence: 1, status: 'pending' });
    for (const id of [uid('c'), 'no id']) expect(await store.getLastIncompleteStep(id)).toBeNull();
    await expectRefused(store.getLastIncompleteStep(''), 'bad_request', 'chat_id is required');
  });

  test('seed 63, 64: steps by stack, and the path to it; unknown ones are none, and their own path', async () => {
    const { store, root, child, step } = await chatOn(host);
    const grandchild = uid('k');
    await store.saveSteps([
      step(),
      step(),
      step({ stackId: child, stackParentId: root, stackDepth: 1 }),
      step({ stackId: grandchild, stackParentId: child, stackDepth: 2 }),
    ]);
    expect((await store.getStepsByStackId(root)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(await store.getStepsByStackId(child)).toMatchObject([{ stackParentId: root, stackDepth: 1 }]);
    expect(await store.getStackPath(grandchild)).toEqual([root, child, grandchild]);
    expect(await store.getStackPath(child)).toEqual([root, child]);
    expect(await store.getStackPath(root)).toEqual([root]);
    // A parent that has no steps of its own is on the path, and it ends there.
    const [orphan, absent] = [uid('k'), uid('k')];
    await store.saveSteps([step({ stackId: orphan, stackParentId: absent, stackDepth: 1 })]);
    expect(await store.getStackPath(orphan)).toEqual([absent, orphan]);
    // Nor does a circle hold it up.
    const own = uid('k');
    await store.saveSteps([step({ stackId: own, stackParentId: own })]);
    expect(await store.getStackPath(own)).toEqual([own]);
    for (const id of [uid('k'), 'no id']) {
      expect(await store.getStepsByStackId(id)).toEqual([]);
      expect(await store.getStackPath(id)).toEqual([id]);
    }
    await expectRefused(store.getStepsByStackId(''), 'bad_request', 'stack_id is required');
    await expectRefused(store.getStackPath(''), 'bad_request', 'stack_id is required');
  });

  test('seed 66: a delegation that was interrupted: where, by which path, with which space; and gone with its chat', async () => {
    const { server, store, chatId, requestId, root, child, step } = await chatOn(host);
    await delegation(store, step, child, root);
    const at = await store.getLastIncompleteStep(chatId);
    expect(at).toMatchObject({ type: 'llm', status: 'interrupted', stackDepth: 1, assistantId: 'visualizer' });
    expect(at?.input).toEqual({ messages: ['draw'] });
    expect(await store.getStackPath(at!.stackId)).toEqual([root, child]);

    const space = new MemorySpace();
    space.set('mine', 1);
    createYaoStore(commandsOn(host, server, { userId: 'user1' }), { space }).space.restore(at?.spaceSnapshot);
    expect([space.getDel('choose_prompt'), space.get('mine')]).toEqual(['query', 1]);

    // The seed's resume: the step that stopped is completed, then the one that called it.
    await store.updateStep(at!.stepId, { status: 'completed', output: { content: 'drawn' } });
    const caller = await store.getLastIncompleteStep(chatId);
    expect(caller).toMatchObject({ type: 'delegate', status: 'running', sequence: 3 });
    await store.updateStep(caller!.stepId, { status: 'completed' });
    expect(await store.getLastIncompleteStep(chatId)).toBeNull();
    await store.deleteChat(chatId);
    expect(await store.getSteps(requestId)).toEqual([]);
    expect(await store.getStepsByStackId(child)).toEqual([]);
  });

  test('seed 35: fifty that save their own at once: none lost, each number once', async () => {
    const { store, requestId, step } = await chatOn(host);
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => store.saveSteps([step({ input: { n } }), step({ input: { n } })])),
    );
    const steps = await store.getSteps(requestId);
    expect(steps.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    const owners = steps.map(({ input }) => (input as { n: number }).n);
    expect(owners.filter((n, index) => index % 2 === 0 && owners[index + 1] === n)).toHaveLength(50);
  });

  test('steps of a turn that runs here: they can be read, not written; those who follow see what is saved', async () => {
    const { server, person, chatId, view, turn } = await scene();
    const { chats: store } = createYaoStore(commandsOn(host, server, { userId: 'local' }));
    const run = await turn();
    const stepId = uid('s');
    await run.push({ op: 'step.start', stepId, type: 'llm', input: { q: 1 } });
    expect(await store.getSteps(run.requestId)).toMatchObject([{ stepId, status: 'running', input: { q: 1 } }]);
    expect(await store.getStackPath(run.stackId)).toEqual([run.stackId]);
    const mine = { chatId, requestId: run.requestId, assistantId: 'bot', stackId: run.stackId };
    await expectRefused(
      store.saveSteps([{ ...mine, type: 'llm', status: 'running' }]),
      'conflict',
      'This turn is not over.',
    );
    await run.close('failed');
    await person.ended(chatId, run.requestId);
    expect(await store.getLastIncompleteStep(chatId)).toMatchObject({ stepId, status: 'failed' });
    const requestId = uid('r');
    await store.saveSteps([{ ...mine, requestId, stackId: uid('k'), type: 'tool', status: 'completed' }]);
    await person.do('chat:get', { chatId });
    expect(view.events.at(-1)).toMatchObject({ type: 'step.ended', step: { requestId, status: 'completed' } });
  });
});
