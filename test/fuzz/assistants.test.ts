import { describe, expect, test } from 'vitest';
import { planOf, type Mode } from './assistants/plan.js';
import { playTree } from './assistants/round.js';
import { Random } from './random.js';

/**
 * Trees of assistants that are stopped, fail, lose their agents and their server, and are resumed until they complete
 * (TRN-9): what they said, recorded and did is what an undisturbed run says, records and does.
 *
 * FUZZ_SEED, FUZZ_SECONDS as in fuzz.test.ts; this takes about a third of the time. One round alone:
 * `FUZZ_SEED=… npm run fuzz -- assistants.test -t "round 3 "`; one tree alone, ten times:
 * `FUZZ_TREE=agents:1234 npm run fuzz -- assistants.test`. FUZZ_TRACE=1 tells what befell each tree.
 */

const ROUNDS: readonly { readonly mode: Mode; readonly trees: number }[] = [
  { mode: 'in-process', trees: 10 },
  { mode: 'crashes', trees: 2 },
  { mode: 'agents', trees: 6 },
];
const ROUND_SECONDS = 7;

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 60) / 3;
const alone = process.env['FUZZ_TREE']?.split(':');

function plan(): { readonly mode: Mode; readonly trees: readonly number[] }[] {
  if (alone) return [{ mode: alone[0] as Mode, trees: Array<number>(10).fill(Number(alone[1])) }];
  return Array.from({ length: Math.max(2, Math.floor(seconds / ROUND_SECONDS)) }, (_, round) => {
    const { mode, trees } = ROUNDS[round % ROUNDS.length] as (typeof ROUNDS)[number];
    const random = Random.of(seed, `assistants ${round + 1}`);
    return { mode, trees: Array.from({ length: trees }, () => random.between(0, 2 ** 31)) };
  });
}

describe(`assistants that are resumed, FUZZ_SEED=${seed}`, () => {
  const rounds = plan();
  console.log(`FUZZ_SEED=${seed}, ${rounds.length} rounds of assistants`);

  for (const [index, { mode, trees }] of rounds.entries()) {
    test(`round ${index + 1} ${mode}: TRN-6, TRN-9, DAT-4, AGT-1, AGT-8, LIF-2`, { timeout: 180_000 }, async () => {
      const found: string[] = [];
      for (const tree of trees) {
        const { faults, trace } = await playTree(planOf(tree, mode));
        if (faults.length > 0 || process.env['FUZZ_TRACE'])
          console.log(`FUZZ_SEED=${seed}, round ${index + 1}; FUZZ_TREE=${mode}:${tree}\n${trace.join('\n')}`);
        found.push(...faults.slice(0, 5).map((fault) => `${mode}:${tree} ${fault}`));
      }
      expect(found).toEqual([]);
    });
  }
});
