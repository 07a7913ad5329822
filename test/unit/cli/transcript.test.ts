import { describe, expect, it } from 'vitest';
import type { Message, Turn } from '../../../client/index.js';
import { Transcript } from '../../../server/cli/transcript.js';
import { harmless } from '../../../server/cli/terminal.js';

const AT = '2026-01-01T00:00:00.000Z';

const message = (sequence: number, content: unknown, more: Partial<Message> = {}): Message => ({
  messageId: `m${sequence}`,
  chatId: 'c',
  requestId: 't1',
  role: 'assistant',
  type: 'text',
  props: content === undefined ? {} : { content: content as string },
  blockId: null,
  threadId: null,
  stepId: null,
  assistantId: 'echo',
  sequence,
  state: 'open',
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
});

const turn = (more: Partial<Turn> = {}): Turn => ({
  requestId: 't1',
  chatId: 'c',
  assistantId: 'echo',
  status: 'running',
  background: false,
  attempt: 1,
  stopReason: null,
  error: null,
  usage: null,
  metadata: null,
  createdBy: 'ann',
  createdAt: AT,
  startedAt: AT,
  endedAt: null,
  ...more,
});

function scene({ hasMarks = false } = {}) {
  let written = '';
  const transcript = new Transcript({
    print: (text) => (written += text),
    wants: () => true,
    label: ({ type }) => (type === 'text' ? '> ' : `[${type}] `),
    hasMarks,
  });
  return {
    /** Shows a view. @returns what was written for it */
    show: (messages: readonly Message[], turns: readonly Turn[] = [], hasMore = false): string => {
      written = '';
      transcript.show({ messages, turns: new Map(turns.map((one) => [one.requestId, one])), hasMore });
      return written;
    },
  };
}

const closed = { state: 'closed' } as const;

describe('a transcript', () => {
  it('writes what a text has grown by, and ends its line when it closes', () => {
    const { show } = scene();
    expect(show([message(1, '')])).toBe('> ');
    expect(show([message(1, 'one')])).toBe('one');
    expect(show([message(1, 'one')])).toBe('');
    expect(show([message(1, 'one two', closed)])).toBe(' two\n');
    expect(show([message(1, 'one two', closed)])).toBe('');
  });

  it('writes one line at a time: what comes meanwhile waits', () => {
    const { show } = scene();
    expect(show([message(1, 'a'), message(2, 'x')])).toBe('> a');
    expect(show([message(1, 'ab'), message(2, 'xy', closed)])).toBe('b');
    expect(show([message(1, 'abc', closed), message(2, 'xy', closed)])).toBe('c\n> xy\n');
  });

  it('shows what does not grow as a text once it is complete, and lets nobody wait for it', () => {
    const { show } = scene();
    const call = { type: 'tool_call', props: { name: 'sum' } };
    expect(show([message(1, undefined, call), message(2, 'a', closed)])).toBe('> a\n');
    expect(show([message(1, undefined, { ...call, ...closed }), message(2, 'a', closed)])).toBe(
      '[tool_call] {"name":"sum"}\n',
    );
  });

  it('says again what was replaced, edited or deleted', () => {
    const { show } = scene({ hasMarks: true });
    expect(show([message(1, 'ab')])).toBe('> ab');
    expect(show([message(1, 'xy')])).toBe('\n> (changed) xy');
    expect(show([message(1, 'xyz', closed)])).toBe('z\n');
    expect(show([message(1, 'edited', closed)])).toBe('> (changed) edited\n');
    expect(show([])).toBe('-- a message was deleted\n');
    expect(show([])).toBe('');
  });

  it('takes no message for deleted that a fresh snapshot leaves out because it is older', () => {
    const { show } = scene({ hasMarks: true });
    show([message(1, 'a', closed), message(2, 'b', closed)]);
    expect(show([message(2, 'b', closed), message(3, 'c', closed)], [], true)).toBe('> c\n');
  });

  it('marks each attempt’s beginning before its first message and its end after the last; what was over is no news', () => {
    const { show } = scene({ hasMarks: true });
    const past = turn({ requestId: 't0', status: 'completed', endedAt: AT });
    expect(show([message(1, 'old', { requestId: 't0', ...closed })], [past])).toBe('> old\n');
    const before = [message(1, 'old', { requestId: 't0', ...closed })];
    expect(show([...before, message(2, 'a')], [past, turn()])).toBe('-- turn t1 started (echo)\n> a');
    const ended = turn({ status: 'interrupted', stopReason: 'stopped', endedAt: AT });
    expect(show([...before, message(2, 'ab', closed)], [past, ended])).toBe('b\n-- turn t1 interrupted (stopped)\n');
    const again = turn({ attempt: 2 });
    expect(show([...before, message(2, 'ab', closed)], [past, again])).toBe('-- turn t1 started (echo, attempt 2)\n');
  });

  it('lets no text steer the terminal', () => {
    expect(harmless('a\u001b[2Jb\rc\u009bd\te\n')).toBe('a\ufffd[2Jb\ufffdc\ufffdd\te\n');
  });
});
