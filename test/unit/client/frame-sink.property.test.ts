import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from './fake-clock.js';
import { append, fate, line } from './frame-line.js';
import { BAD, ModelFrame } from './model-frame.js';

describe('the sink of a frame, whatever the network does', () => {
  it('AGT-1, AGT-2, TRN-4: every good op is applied once and in order', async () => {
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('push' as const),
          bad: fc.nat(5),
          count: fc.integer({ min: 1, max: 3 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(8) }) },
      { weight: 5, arbitrary: fc.constant({ do: 'serve' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'lose' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'lose answer' as const }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 10, maxLength: 80 }),
        fc.boolean(),
        async (actions, namesIndex) => {
          const made = line({ ackTimeoutMs: 1_000 });
          const model = new ModelFrame();
          model.namesIndex = namesIndex;
          const wanted: string[] = [];
          const fates: { bad: boolean; fate: Promise<string> }[] = [];
          let served = 0;
          let name = 0;
          const serve = (): boolean => {
            const next = made.link.sent[served];
            if (next) model.serve(next);
            served += next ? 1 : 0;
            return next !== undefined;
          };
          for (const step of actions) {
            if (step.do === 'push') {
              const texts = Array.from({ length: step.count }, () => `text ${name++}`);
              const bad = step.bad === 0;
              if (!bad) wanted.push(...texts);
              fates.push({
                bad,
                fate: fate(made.sink.push([...texts, ...(bad ? [BAD] : [])].map((text) => append(text)))),
              });
            } else if (step.do === 'wait') made.clock.advance(step.ms);
            else if (step.do === 'serve') serve();
            else {
              // A command may have been served, and its answer lost.
              if (step.do === 'lose answer') {
                const next = made.link.sent[served];
                if (next) model.serve({ ...next, ok: () => undefined, refuse: () => undefined });
              }
              made.sink.detach();
              made.relink();
              served = 0;
              made.sink.attach(model.lastSeq);
            }
            await settle();
          }
          for (let round = 0; round < 5; round++) {
            made.clock.advance(10);
            await settle();
            while (serve()) await settle();
          }
          for (const each of fates) expect(await each.fate).toBe(each.bad ? 'bad_request' : 'applied');
          expect(model.applied).toEqual(wanted);
          expect(made.ended).not.toHaveBeenCalled();
        },
      ),
      { numRuns: 200 },
    );
  });
});
