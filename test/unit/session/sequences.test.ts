import { describe, expect, it } from 'vitest';
import { Sequences } from '../../../server/session/sequences.js';
import { Undo } from '../../../server/session/undo.js';

/** A chat in which a turn takes and tells `perWrite` places while each write is under way. */
async function storeBeside(perWrite: number) {
  const sequences = new Sequences(5);
  const told: number[] = [];
  const tell = (sequence: number): void => void told.push(sequences.tell(sequence) ? -sequence : sequence);
  let writes = 0;
  const stored = await sequences.inPlace(2, async (places) => {
    writes++;
    for (let count = 0; count < perWrite; count++) tell(sequences.take());
    return places;
  });
  for (const sequence of stored) tell(sequence);
  tell(sequences.take());
  return { told, writes, stored };
}

describe('the places of messages that are stored before they are told of', () => {
  it('stand where they were taken when nothing came in between', async () => {
    expect(await storeBeside(0)).toEqual({ told: [5, 6, 7], writes: 1, stored: [5, 6] });
  });

  it.each([1, 30, 64])(
    'go behind %i messages of a turn, in one more write, and the turn goes on behind them',
    async (count) => {
      const { told, writes } = await storeBeside(count);
      expect(writes).toBe(2);
      expect(told).toEqual([...told].sort((a, b) => a - b));
      expect(new Set(told).size).toBe(2 * count + 3);
      expect(Math.min(...told), 'none was late').toBeGreaterThan(0);
    },
  );

  it('are late after three writes beside a turn that takes more than 64 places in each', async () => {
    const { told, writes, stored } = await storeBeside(65);
    expect(writes).toBe(3);
    expect(told.filter((sequence) => sequence < 0)).toEqual(stored.map((sequence) => -sequence));
    expect(new Set(told.map(Math.abs)).size, 'no place is given twice').toBe(3 * 65 + 3);
  });

  it('stay where they were stored when writing them again fails', async () => {
    const sequences = new Sequences(1);
    const stored = await sequences.inPlace(1, async (places, tries) => {
      if (tries > 1) throw new Error('refused');
      sequences.tell(sequences.take());
      return places;
    });
    expect(stored).toEqual([1]);
  });

  it('start anew from a push that is taken back, and behind what was given before a crash', () => {
    const sequences = new Sequences(1);
    const undo = new Undo();
    expect(sequences.take(undo)).toBe(1);
    undo.run();
    expect(sequences.take()).toBe(1);
    sequences.raise(7);
    expect(sequences.take()).toBe(8);
  });
});
