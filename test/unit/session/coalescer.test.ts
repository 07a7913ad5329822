import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../server/clock.js';
import { Coalescer } from '../../../server/session/coalescer.js';
import { PendingAppends, type AppendBody } from '../../../server/session/pending-appends.js';
import { Pump } from '../../../server/session/pump.js';
import { manualClock } from '../../contract/manual-clock.js';

function scene(windowMs: number) {
  const clock = manualClock();
  let workedMs = 0;
  const loaded: Clock = { ...clock, monotonic: () => clock.monotonic() + workedMs };
  const journal = { commit: () => undefined } as never;
  const pump = new Pump(loaded, journal);
  const coalescer = new Coalescer(loaded, windowMs, pump);
  const emitted: AppendBody[] = [];
  let slowMs = 0;
  const appends = new PendingAppends(loaded, coalescer, (body) => {
    emitted.push(body);
    workedMs += slowMs;
  });
  const append = (text: string, messageId = 'm', path = 'content') =>
    appends.add({ type: 'message.appended', messageId, path, from: 0, text });
  return {
    clock,
    appends,
    append,
    emitted,
    texts: () => emitted.map(({ text }) => text),
    slow: (ms: number) => (slowMs = ms),
    /** Delivers something else, which takes so long. */
    deliver: (ms: number) => {
      pump.add({ take: () => () => void (workedMs += ms) });
      pump.flush();
    },
  };
}

describe('SUB-6: appends within the window become one event', () => {
  it('the first is sent at once, the rest of the window together, in order', () => {
    const { clock, append, texts } = scene(33);
    append('a');
    expect(texts()).toEqual(['a']);
    append('b');
    append('c');
    expect(texts()).toEqual(['a']);
    clock.advance(33);
    expect(texts()).toEqual(['a', 'bc']);
  });

  it('after a quiet window the next one is sent at once again', () => {
    const { clock, append, texts } = scene(33);
    append('a');
    clock.advance(50);
    append('b');
    expect(texts()).toEqual(['a', 'b']);
  });

  it('texts of different messages and paths are never mixed (C38)', () => {
    const { clock, append, emitted } = scene(33);
    append('0', 'm1');
    for (const round of ['1', '2']) for (const message of ['m1', 'm2', 'm3']) append(round, message);
    append('t', 'm1', 'title');
    clock.advance(33);
    expect(emitted.map(({ messageId, path, text }) => [messageId, path, text])).toEqual([
      ['m1', 'content', '0'],
      ['m1', 'content', '12'],
      ['m2', 'content', '12'],
      ['m3', 'content', '12'],
      ['m1', 'title', 't'],
    ]);
  });

  it('a flush in between (any other event) loses and doubles nothing', () => {
    const { clock, append, appends, texts } = scene(33);
    append('a');
    append('b');
    appends.flushAppends();
    append('c');
    clock.advance(100);
    expect(texts()).toEqual(['a', 'b', 'c']);
  });

  it('window 0 joins what comes in one turn of the event loop', async () => {
    const { append, texts } = scene(0);
    append('a');
    append('b');
    expect(texts()).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(texts()).toEqual(['ab']);
  });

  it('under load the window grows to twice what the last flush took', () => {
    const { clock, append, texts, slow } = scene(33);
    append('a');
    append('b');
    slow(100);
    clock.advance(33);
    expect(texts()).toEqual(['a', 'b']);
    slow(0);
    append('c');
    clock.advance(150);
    expect(texts()).toEqual(['a', 'b']);
    clock.advance(50);
    expect(texts()).toEqual(['a', 'b', 'c']);
  });

  it('it grows as well where nothing but first appends keep the server busy, and is short again afterwards', () => {
    const { clock, append, texts, deliver } = scene(33);
    append('a');
    clock.advance(30);
    deliver(60);
    append('b');
    expect(texts()).toEqual(['a']);
    clock.advance(120);
    expect(texts()).toEqual(['a', 'b']);
    clock.advance(300);
    append('c');
    append('d');
    clock.advance(33);
    expect(texts()).toEqual(['a', 'b', 'c', 'd']);
  });
});
