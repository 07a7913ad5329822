import { describe, expect, it } from 'vitest';
import type { Step, StepStatus } from '../../../protocol/index.js';
import type { Store, TurnRecord } from '../../../server/ports/store.js';
import {
  aBegin,
  aRecord,
  aStep,
  aTurn,
  anEnd,
  anId,
  at,
  begun,
  interrupted,
  sequences,
  stored,
  type StoreUnderTest,
} from './values.js';

export function stepContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;
  const stepsOf = async (requestId: string): Promise<Step[]> =>
    (await store().getSteps(requestId)).map(({ step }) => step);

  /** The turn of the seed design's own example: an analyser that delegated to a visualiser, which was interrupted. */
  async function delegated(): Promise<TurnRecord> {
    const record = await interrupted(store());
    const { turn, rootStackId } = record;
    const child = {
      stackId: `child-of-${turn.requestId}`,
      stackParentId: rootStackId,
      stackDepth: 1,
      assistantId: 'visualizer',
    };
    const space = { choose_prompt: 'query' };
    await store().saveSteps([
      aStep(turn, 1, { type: 'input', spaceSnapshot: {} }),
      aStep(turn, 2, { type: 'llm', spaceSnapshot: {} }),
      aStep(turn, 3, { type: 'delegate', status: 'running', spaceSnapshot: space }),
      aStep(turn, 4, { ...child, type: 'input', spaceSnapshot: space }),
      aStep(turn, 5, { ...child, type: 'llm', status: 'interrupted', spaceSnapshot: space }),
    ]);
    return record;
  }

  describe('steps', () => {
    it('seed 60: steps come back as they were saved, ascending by sequence', async () => {
      const { turn } = await begun(store());
      const records = [
        { ...aStep(turn, 2, { type: 'tool', status: 'failed', error: { message: 'timed out' } }), beginOrder: 7 },
        aStep(turn, 1, {
          type: 'delegate',
          stackParentId: 'parent',
          stackDepth: 3,
          input: { messages: [{ role: 'user', content: 'hi' }] },
          output: 'a plain text',
          spaceSnapshot: { cart: [1, 2] },
          metadata: { handled: true },
          updatedAt: at(4),
        }),
        aStep(turn, 3, { input: [1, null, 'x'], output: false, error: 'a sentence', spaceSnapshot: {} }),
      ];
      await store().saveSteps([]);
      await store().saveSteps(records);
      expect(await store().getSteps(turn.requestId)).toEqual([records[1], records[0], records[2]]);
      expect(await store().getSteps(anId('request'))).toEqual([]);
    });

    it('saving is all or none: an id or a sequence of another step is refused', async () => {
      const [a, b] = [await begun(store()), await begun(store())];
      const foreign = aStep(b.turn, 1);
      await store().saveSteps([foreign]);
      await store().saveSteps([aStep(a.turn, 1)]);
      for (const bad of [
        { ...foreign, step: { ...foreign.step, requestId: a.turn.requestId, chatId: a.turn.chatId, sequence: 3 } },
        aStep(a.turn, 1),
      ]) {
        await expect(store().saveSteps([aStep(a.turn, 2), bad])).rejects.toMatchObject({ code: 'conflict' });
      }
      expect(sequences(await stepsOf(a.turn.requestId))).toEqual([1]);
      expect(await store().getSteps(b.turn.requestId)).toEqual([foreign]);
      const lost = aStep(aTurn(anId('chat')), 1);
      await expect(store().saveSteps([aStep(a.turn, 2), lost])).rejects.toMatchObject({ code: 'not_found' });
      expect(sequences(await stepsOf(a.turn.requestId))).toEqual([1]);
    });

    it('a completed step is never changed back, by none of the ways', async () => {
      const record = await begun(store());
      const done = aStep(record.turn, 1, { output: { answer: 42 } });
      await store().saveSteps([done]);
      const worse = { ...done.step, status: 'interrupted' as const, output: null, error: 'late' };
      await store().saveSteps([{ ...done, step: worse }]);
      expect(await store().getSteps(record.turn.requestId)).toEqual([done]);
      expect(await store().updateStep(done.step.stepId, { status: 'failed', error: 'late' }, at(9))).toEqual(done.step);
      await store().write([anEnd(record, { turn: { status: 'failed' }, steps: [{ ...done, step: worse }] })]);
      expect(await store().getSteps(record.turn.requestId)).toEqual([done]);
    });

    it('updates a step', async () => {
      const { turn } = await begun(store());
      const { step } = aStep(turn, 1, { status: 'running', input: { a: 1 }, spaceSnapshot: { x: 1 } });
      await store().saveSteps([{ step, beginOrder: 1 }]);
      const patch = { status: 'completed', output: ['ok'], metadata: { ms: 3 }, spaceSnapshot: null } as const;
      const updated = await store().updateStep(step.stepId, patch, at(5));
      expect(updated).toEqual({ ...step, ...patch, updatedAt: at(5) });
      expect(await stepsOf(turn.requestId)).toEqual([updated]);
      expect((await store().updateStep(step.stepId, { output: null }, at(6))).output).toBeNull();
      await expect(store().updateStep(anId('step'), { error: 'x' }, at(7))).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    it('seed 62: the last incomplete step: none, then the highest sequence', async () => {
      const { turn } = await interrupted(store());
      expect(await store().lastIncompleteStep(turn.chatId)).toBeNull();
      expect(await store().lastIncompleteStep(anId('chat'))).toBeNull();
      await store().saveSteps([aStep(turn, 1), aStep(turn, 2)]);
      expect(await store().lastIncompleteStep(turn.chatId)).toBeNull();
      const statuses: StepStatus[] = ['pending', 'running', 'failed', 'interrupted'];
      for (const [index, status] of statuses.entries()) {
        const { step, beginOrder } = aStep(turn, index + 3, { status, error: 'why' });
        await store().saveSteps([{ step, beginOrder }]);
        expect(await store().lastIncompleteStep(turn.chatId)).toEqual(step);
      }
      await store().saveSteps([aStep(turn, 9)]);
      expect(await store().lastIncompleteStep(turn.chatId)).toMatchObject({ sequence: 6 });
    });

    it('seed 66: of the newest incomplete turn, the deepest stack comes first', async () => {
      const { turn } = await delegated();
      const found = await store().lastIncompleteStep(turn.chatId);
      expect(found).toMatchObject({ sequence: 5, stackDepth: 1, spaceSnapshot: { choose_prompt: 'query' } });
      // Deeper beats later.
      await store().saveSteps([aStep(turn, 6, { status: 'running' })]);
      expect(await store().lastIncompleteStep(turn.chatId)).toEqual(found);
    });

    it('of turns that overlap, the one begun last counts, whatever the sequences, times and order of ending', async () => {
      const { chatId } = await stored(store());
      const [older, newer, newest] = [1, 2, 3].map((n) => aRecord(aTurn(chatId, { createdAt: at(10 - n) }))) as [
        TurnRecord,
        TurnRecord,
        TurnRecord,
      ];
      for (const record of [older, newer, newest]) await store().write([aBegin(record)]);
      const stopped = { turn: { status: 'interrupted', stopReason: 'stopped' } } as const;
      await store().write([anEnd(newest, { steps: [aStep(newest.turn, 1)] })]);
      await store().write([anEnd(newer, { ...stopped, steps: [aStep(newer.turn, 1, { status: 'interrupted' })] })]);
      const many = Array.from({ length: 9 }, (_, n) =>
        aStep(older.turn, n + 1, { status: 'interrupted', stackDepth: n }),
      );
      await store().write([anEnd(older, { ...stopped, steps: many })]);
      expect(await store().lastIncompleteStep(chatId)).toMatchObject({ requestId: newer.turn.requestId, sequence: 1 });
    });

    it('the last incomplete step is of the newest incomplete turn, also where that has none', async () => {
      const { turn: older } = await interrupted(store());
      const last = (): Promise<Step | null> => store().lastIncompleteStep(older.chatId);
      const next = aRecord(aTurn(older.chatId));
      const unplaced = aStep(aTurn(older.chatId), 1, { status: 'interrupted' });
      await store().saveSteps([unplaced]);
      expect(await last(), 'that is one with a turn').toBeNull();
      await store().saveSteps([aStep(older, 1, { status: 'interrupted' })]);
      await store().write([aBegin(next)]);
      expect(await last(), 'a turn that has not ended yet').toMatchObject({ requestId: older.requestId });
      await store().write([anEnd(next, { turn: { status: 'failed', stopReason: 'agent_unavailable' } })]);
      expect(await last(), 'a turn that failed').toBeNull();
      await store().write([aBegin({ ...next, turn: { ...next.turn, attempt: 2 } })]);
      expect(await last(), 'and runs again').toBeNull();
      await store().write([anEnd({ ...next, turn: { ...next.turn, attempt: 2 } })]);
      expect(await last(), 'and completed').toMatchObject({ requestId: older.requestId });
    });

    it('seed 63: the steps of a stack', async () => {
      const { turn, rootStackId } = await delegated();
      expect(sequences((await store().getStepsByStack(rootStackId)).map(({ step }) => step))).toEqual([1, 2, 3]);
      const child = await store().getStepsByStack(`child-of-${turn.requestId}`);
      expect(child.map(({ step }) => [step.sequence, step.stackParentId, step.stackDepth])).toEqual([
        [4, rootStackId, 1],
        [5, rootStackId, 1],
      ]);
      expect(await store().getStepsByStack(anId('stack'))).toEqual([]);
    });

    it('seed 64: the path of a stack, root first', async () => {
      const { turn, rootStackId } = await delegated();
      const childId = `child-of-${turn.requestId}`;
      const leafId = anId('stack');
      await store().saveSteps([aStep(turn, 6, { stackId: leafId, stackParentId: childId, stackDepth: 2 })]);
      expect(await store().getStackPath(turn.chatId, leafId)).toEqual([rootStackId, childId, leafId]);
      expect(await store().getStackPath(turn.chatId, childId)).toEqual([rootStackId, childId]);
      expect(await store().getStackPath(turn.chatId, rootStackId)).toEqual([rootStackId]);
      const unknown = anId('stack');
      expect(await store().getStackPath(turn.chatId, unknown)).toEqual([unknown]);
      // A parent without steps of its own is on the path, and ends it.
      await store().saveSteps([aStep(turn, 7, { stackId: anId('stack'), stackParentId: unknown, stackDepth: 1 })]);
      const [orphan] = (await store().getSteps(turn.requestId)).slice(-1);
      expect(await store().getStackPath(turn.chatId, orphan!.step.stackId)).toEqual([unknown, orphan!.step.stackId]);
    });

    it('ACC-1: a path does not lead through another chat that has such a stack', async () => {
      const [own, foreign] = [(await begun(store())).turn, (await begun(store())).turn];
      const stackId = anId('stack');
      const [root, secret] = [anId('stack'), anId('stack')];
      await store().saveSteps([aStep(foreign, 2, { stackId, stackParentId: secret, stackDepth: 1 })]);
      await store().saveSteps([aStep(own, 2, { stackId, stackParentId: root, stackDepth: 1 })]);
      expect(await store().getStackPath(own.chatId, stackId)).toEqual([root, stackId]);
      expect([...(await store().chatsOfStack(stackId))].sort()).toEqual([own.chatId, foreign.chatId].sort());
    });

    it('a cycle in the data ends the climb', async () => {
      const { turn } = await begun(store());
      const [a, b, self] = [anId('stack'), anId('stack'), anId('stack')];
      await store().saveSteps([
        aStep(turn, 1, { stackId: a, stackParentId: b }),
        aStep(turn, 2, { stackId: b, stackParentId: a }),
        aStep(turn, 3, { stackId: self, stackParentId: self }),
      ]);
      expect(await store().getStackPath(turn.chatId, a)).toEqual([b, a]);
      expect(await store().getStackPath(turn.chatId, self)).toEqual([self]);
    });
  });
}
