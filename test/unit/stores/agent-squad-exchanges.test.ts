import { describe, expect, test } from 'vitest';
import { Exchanges } from '../../../stores/agent-squad/exchanges.js';
import type { SquadRow } from '../../../stores/agent-squad/row.js';

/**
 * Rows in the order of saving, a word each: `q1` or `a1`, `A:` before it for its lane, `∥` behind it for one saved while
 * another was on its way, `#` for one of a batch, `<n` for a size.
 */
function exchangesOf(saved: string): Exchanges {
  const exchanges = new Exchanges();
  for (const [index, word] of saved.split(' ').entries()) {
    const {
      lane = '',
      text = '',
      marks = '',
      max,
    } = /^(?:(?<lane>\w):)?(?<text>\w+)(?<marks>[∥#]*)(?:<(?<max>\d+))?$/u.exec(word)?.groups ?? {};
    const role = text.startsWith('q') ? 'user' : 'assistant';
    const row: SquadRow = {
      sequence: index + 1,
      agentId: 'agent',
      lane,
      role,
      isParallel: marks.includes('∥'),
      isBatched: marks.includes('#'),
      ...(max === undefined ? {} : { max: Number(max) }),
      message: { role, content: text },
    };
    exchanges.add(row);
  }
  return exchanges;
}

const said = (rows: readonly SquadRow[]): string => rows.map(({ message }) => message.content as string).join(' ');

describe('Exchanges', () => {
  test.each([
    ['agent-squad 2c.3: a repeated role', 'q1 q2', 'q1', ''],
    ['agent-squad 2c.11: two of them', 'q1 a1 q2 qx a2 ax q3', 'q1 a1 q2 a2 q3', ''],
    ['an answer first', 'a0 ax q1 a1', 'a0 q1 a1', ''],
    ['agent-squad 2d: three exchanges at once', 'q1 q2∥ q3∥ a1∥ a2∥ a3∥', 'q1 a1 q2 a2 q3 a3', ''],
    ['at once, mixed', 'q1 q2∥ a1∥ q3∥ a2∥ a3', 'q1 a1 q2 a2 q3 a3', ''],
    ['at once, still open', 'q1 q2∥ q3∥ a1', 'q1 a1 q2', 'q3'],
    ['at once, with a size', 'q1<2 q2∥<2 a1∥<2 a2<2', 'q2 a2', ''],
    ['two lanes', 'A:q1 B:q2 A:a1 B:a2', 'q1 a1 q2 a2', ''],
    ['two lanes, the later question answered first', 'A:q1 B:q2 B:a2 A:a1', 'q2 a2 q1 a1', ''],
    ['two lanes, one of them ends without an answer', 'A:q1 B:q2 B:a2 B:q3 B:a3', 'q2 a2 q3 a3', 'q1'],
    ['two lanes, one of them not yet answered', 'A:q1 B:q2', 'q1', 'q2'],
    ['two lanes, the question saved by one and answered by the other', 'A:q1 B:a1 A:q2 B:a2', 'q1 a1 q2 a2', ''],
    ['two lanes, a second answer to one question', 'A:q1 A:a1 B:ax A:q2', 'q1 a1 q2', 'ax'],
    ['three lanes: the one overtaken is passed by', 'A:q1 B:q2 C:q3 B:a2 D:q4 C:a3', 'q2 a2 q3 a3 q4', 'q1'],
    ['a batch', 'q1 q2# q3# a1# a2#', 'q1 q2 q3 a1 a2', ''],
  ])('%s', (_, saved, standing, apart) => {
    const exchanges = exchangesOf(saved);
    expect(said(exchanges.standing)).toBe(standing);
    expect(said(exchanges.apart)).toBe(apart);
  });

  test('agent-squad 2c.7, 8: sizes trim what stands, from the save on that names one; a left out one trims nothing', () => {
    expect(said(exchangesOf('q1 a1 q2 a2 q3<4 a3<4').standing)).toBe('q2 a2 q3 a3');
    expect(said(exchangesOf('q1 a1 q2 a2 q3 a3<3').standing)).toBe('q3 a3');
    expect(said(exchangesOf('q1 a1 q2 a2 ax<2').standing)).toBe('q1 a1 q2 a2');
    expect(exchangesOf('q1 a1 q2 a2<2').trimmedThrough).toBe(2);
    expect(exchangesOf('q1 a1<0 q2<1').trimmedThrough).toBe(0);
  });
});
