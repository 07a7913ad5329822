import { describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../server/adapters/memory-log.js';
import { systemIds } from '../../server/id-source.js';
import type { ChatLog } from '../../server/ports/live-log.js';
import { liveLogContract } from './live-log.js';

liveLogContract('memory log', (bounds) => createMemoryLog({ ids: systemIds, ...bounds }));

describe('memory log, all chats together', () => {
  const append = (log: ChatLog, bytes: number) => log.append('message.appended', () => 'x'.repeat(bytes));

  it('LIF-3: beyond the total, the chats without news for the longest time are cleared first', () => {
    const live = createMemoryLog({ ids: systemIds, maxTotalBytes: 1_000 });
    const [a, b, c] = ['a', 'b', 'c'].map((chatId) => live.open(chatId)) as [ChatLog, ChatLog, ChatLog];
    append(a, 400);
    append(b, 400);
    append(a, 100);
    expect(live.totalBytes).toBe(900);
    append(c, 300);
    expect([a.bytes, b.bytes, c.bytes]).toEqual([500, 0, 300]);
    expect(live.totalBytes).toBe(800);
    expect(b.after({ epoch: b.position.epoch, offset: 0 })).toBeNull();
    expect(b.after(b.position)).toEqual([]);
  });

  it('LIF-3: one chat alone is held to the total, too', () => {
    const live = createMemoryLog({ ids: systemIds, maxTotalBytes: 1_000 });
    const log = live.open('chat');
    append(log, 900);
    append(log, 900);
    expect(live.totalBytes).toBeLessThanOrEqual(1_000);
  });

  it('LIF-3: a closed chat costs nothing', () => {
    const live = createMemoryLog({ ids: systemIds });
    const logs = Array.from({ length: 100 }, (_, index) => live.open(`chat-${index}`));
    for (const log of logs) append(log, 1_000);
    expect(live.totalBytes).toBe(100_000);
    for (const log of logs) log.close();
    expect(live.totalBytes).toBe(0);
  });
});
