import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatLog, LiveLog } from '../../server/ports/live-log.js';

export interface LiveLogBounds {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

const roomy: LiveLogBounds = { maxEvents: 1_000, maxBytes: 1_000_000 };

const append = (log: ChatLog, text: string) =>
  log.append('message.appended', ({ epoch, offset }) => JSON.stringify({ epoch, offset, text }));

/** The promises of `server/ports/live-log.ts`, for every implementation. `create` makes a log with these bounds per chat. */
export function liveLogContract(name: string, create: (bounds: LiveLogBounds) => LiveLog): void {
  const open = (bounds = roomy) => create(bounds).open('chat');
  const texts = (log: ChatLog, offset: number) =>
    log.after({ epoch: log.position.epoch, offset })?.map(({ json }) => (JSON.parse(json) as { text: string }).text);

  describe(name, () => {
    it('stands at offset 0 before its first event', () => {
      const log = open();
      expect(log.position.offset).toBe(0);
      expect(log.after(log.position)).toEqual([]);
      expect(log.bytes).toBe(0);
    });

    it('gives each event the next offset, and encodes it once with its place', () => {
      const log = open();
      const { epoch } = log.position;
      expect(append(log, 'a')).toEqual({
        epoch,
        offset: 1,
        type: 'message.appended',
        json: JSON.stringify({ epoch, offset: 1, text: 'a' }),
      });
      expect(append(log, 'b').offset).toBe(2);
      expect(log.position).toEqual({ epoch, offset: 2 });
    });

    it('leaves no gap where an event cannot be encoded', () => {
      const log = open();
      const fail = () => {
        throw new Error('no JSON');
      };
      expect(() => log.append('chat.updated', fail)).toThrow('no JSON');
      expect(append(log, 'a').offset).toBe(1);
    });

    it('SUB-2: answers all events after a position, none at its end', () => {
      const log = open();
      for (const text of ['a', 'b', 'c']) append(log, text);
      expect(texts(log, 0)).toEqual(['a', 'b', 'c']);
      expect(texts(log, 2)).toEqual(['c']);
      expect(texts(log, 3)).toEqual([]);
    });

    it('LIF-4: goes on under another epoch, in which nothing from before is answered', () => {
      const log = open();
      append(log, 'a');
      const before = log.position;
      log.beginEpoch();
      expect(log.position.epoch).not.toBe(before.epoch);
      expect(log.position.offset).toBe(0);
      expect(log.bytes).toBe(0);
      expect(append(log, 'b').offset).toBe(1);
      expect(log.after(before)).toBeNull();
      expect(texts(log, 0)).toEqual(['b']);
    });

    it('SUB-2: a position of the future, of another epoch or before what is kept is not answered', () => {
      const log = open({ maxEvents: 2, maxBytes: 1_000_000 });
      for (const text of ['a', 'b', 'c']) append(log, text);
      expect(texts(log, 4)).toBeUndefined();
      expect(log.after({ epoch: 'another', offset: 2 })).toBeNull();
      expect(texts(log, 0)).toBeUndefined();
      expect(texts(log, 1)).toEqual(['b', 'c']);
    });

    it('what was read stays as it was when the log goes on', () => {
      const log = open({ maxEvents: 2, maxBytes: 1_000_000 });
      append(log, 'a');
      append(log, 'b');
      const read = log.after({ ...log.position, offset: 0 });
      for (const text of ['c', 'd', 'e']) append(log, text);
      expect(read?.map(({ offset }) => offset)).toEqual([1, 2]);
    });

    it('LIF-3: bytes are bounded, too; an event larger than that is delivered and not kept', () => {
      const log = open({ maxEvents: 1_000, maxBytes: 200 });
      for (let event = 0; event < 20; event += 1) append(log, 'x'.repeat(20));
      expect(log.bytes).toBeLessThanOrEqual(200);
      expect(append(log, 'x'.repeat(300)).offset).toBe(21);
      expect(log.bytes).toBe(0);
      expect(texts(log, 20)).toBeUndefined();
      expect(texts(log, 21)).toEqual([]);
    });

    it('LIF-3: clear drops what is kept; epoch and offset go on', () => {
      const log = open();
      const before = append(log, 'a');
      log.clear();
      expect(log.bytes).toBe(0);
      expect(log.position).toEqual({ epoch: before.epoch, offset: 1 });
      expect(texts(log, 0)).toBeUndefined();
      expect(append(log, 'b').offset).toBe(2);
      expect(texts(log, 1)).toEqual(['b']);
    });

    it('never uses an epoch again', () => {
      const live = create(roomy);
      const epochs = Array.from({ length: 50 }, () => {
        const log = live.open('chat');
        append(log, 'a');
        log.close();
        return log.position.epoch;
      });
      expect(new Set(epochs).size).toBe(50);
    });

    it('SUB-2: whatever is appended, read and cleared, a read is exactly the suffix or refused', () => {
      const step = fc.oneof(
        { weight: 8, arbitrary: fc.record({ do: fc.constant('append' as const), text: fc.string({ maxLength: 60 }) }) },
        {
          weight: 4,
          arbitrary: fc.record({ do: fc.constant('read' as const), back: fc.integer({ min: -2, max: 40 }) }),
        },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
      );
      const bounds = fc.record({
        maxEvents: fc.integer({ min: 1, max: 30 }),
        maxBytes: fc.integer({ min: 1, max: 1_500 }),
      });
      fc.assert(
        fc.property(bounds, fc.array(step, { maxLength: 300, size: 'max' }), (limits, steps) => {
          const log = open(limits);
          const { epoch } = log.position;
          const all: string[] = [];
          // The model: how many of the newest events fit the bounds, counted anew each time.
          let kept = 0;
          const size = () => all.slice(all.length - kept).reduce((sum, json) => sum + json.length, 0);
          for (const taken of steps) {
            if (taken.do === 'append') {
              all.push(append(log, taken.text).json);
              kept += 1;
              while (kept > limits.maxEvents || size() > limits.maxBytes) kept -= 1;
            } else if (taken.do === 'clear') {
              log.clear();
              kept = 0;
            } else {
              const offset = all.length - taken.back;
              const known = taken.back >= 0 && taken.back <= kept;
              const read = log.after({ epoch, offset })?.map(({ json }) => json) ?? null;
              expect(read).toEqual(known ? all.slice(offset) : null);
            }
            expect(log.position).toEqual({ epoch, offset: all.length });
            expect(log.bytes).toBe(size());
          }
        }),
      );
    });
  });
}
