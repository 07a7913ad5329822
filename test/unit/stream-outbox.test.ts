import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { StreamOutbox } from '../../server/wire/http/stream-outbox.js';
import { manualClock } from '../contract/manual-clock.js';

const KiB = 1024;

/** A stream that hands on one chunk each time the test lets it. */
function readerOnDemand(maxOutboxBytes: number) {
  const clock = manualClock();
  const slow: number[] = [];
  let received = '';
  let next: (() => void) | null = null;
  const stream = new Writable({
    highWaterMark: 16 * KiB,
    write(chunk: Buffer, _encoding, done) {
      received += chunk.toString();
      next = done;
    },
  });
  const outbox = new StreamOutbox(stream, { clock, maxOutboxBytes, onSlow: (bytes) => slow.push(bytes) });
  return {
    clock,
    stream,
    outbox,
    slow,
    received: () => received,
    /** The reader takes a chunk. */
    async read() {
      const done = next;
      next = null;
      done?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    async readAll() {
      while (next) await this.read();
    },
  };
}

describe('SUB-7 the outbox of a stream', () => {
  test('sends items whole and in order, whatever their size', async () => {
    const reader = readerOnDemand(1024 * KiB);
    const items = ['a', 'b'.repeat(100 * KiB), 'ç'.repeat(40 * KiB), 'd', 'e'];
    for (const item of items) reader.outbox.put(item);
    await reader.readAll();
    expect(reader.received()).toBe(items.join(''));
    expect(reader.outbox.idle).toBe(true);
    expect(reader.outbox.waitingBytes).toBe(0);
  });

  test('one item may be larger than the bound: only what waits behind it counts', async () => {
    const reader = readerOnDemand(10 * KiB);
    reader.outbox.put('x'.repeat(500 * KiB));
    reader.clock.advance(60_000);
    expect(reader.stream.destroyed).toBe(false);
    expect(reader.outbox.waitingBytes).toBe(0);
    expect(reader.clock.waiting).toBe(0);
  });

  test('above the bound and without movement for 10 s it is closed', async () => {
    const reader = readerOnDemand(10 * KiB);
    for (let i = 0; i < 5; i++) reader.outbox.put('x'.repeat(20 * KiB));
    reader.clock.advance(9_999);
    expect(reader.stream.destroyed).toBe(false);
    reader.clock.advance(1);
    expect(reader.stream.destroyed).toBe(true);
    expect(reader.slow).toHaveLength(1);
    await reader.read();
    expect(reader.outbox.waitingBytes).toBe(0);
    expect(reader.clock.waiting).toBe(0);
    reader.outbox.put('late');
  });

  test('as long as it moves it may be behind', async () => {
    const reader = readerOnDemand(10 * KiB);
    const sent = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(16 * KiB));
    for (const item of sent) reader.outbox.put(item);
    for (let i = 0; i < sent.length; i++) {
      reader.clock.advance(9_000);
      await reader.read();
    }
    await reader.readAll();
    reader.clock.advance(60_000);
    expect(reader.slow).toEqual([]);
    expect(reader.received()).toBe(sent.join(''));
  });

  test('below the bound it may stand still for ever', async () => {
    const reader = readerOnDemand(64 * KiB);
    for (let i = 0; i < 3; i++) reader.outbox.put('x'.repeat(16 * KiB));
    reader.clock.advance(3_600_000);
    expect(reader.stream.destroyed).toBe(false);
  });

  test('16 times the bound closes it at once', () => {
    const reader = readerOnDemand(10 * KiB);
    for (let i = 0; i < 20 && !reader.stream.destroyed; i++) reader.outbox.put('x'.repeat(10 * KiB));
    expect(reader.stream.destroyed).toBe(true);
    expect(reader.slow[0]).toBeGreaterThan(160 * KiB);
    expect(reader.slow[0]).toBeLessThanOrEqual(170 * KiB);
  });

  test('ending sends what waits, and after 2 s waits no more', async () => {
    const reader = readerOnDemand(64 * KiB);
    reader.outbox.put('x'.repeat(20 * KiB));
    reader.outbox.put('y');
    reader.outbox.end();
    reader.outbox.put('late');
    await reader.readAll();
    await reader.readAll();
    expect(reader.received().slice(-2)).toBe('xy');
    expect(reader.stream.writableFinished).toBe(true);
    expect(reader.clock.waiting).toBe(0);

    const deaf = readerOnDemand(64 * KiB);
    deaf.outbox.put('x'.repeat(20 * KiB));
    deaf.outbox.end();
    deaf.clock.advance(2_000);
    expect(deaf.stream.destroyed).toBe(true);
  });
});
