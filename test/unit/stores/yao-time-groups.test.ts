import { expect, test } from 'vitest';
import type { Chat } from '../../../stores/yao/index.js';
import { calendarOf, groupsByTime } from '../../../stores/yao/time-groups.js';

const chat = (time: string, more: Partial<Chat> = {}) => ({ chatId: time, createdAt: time, ...more }) as Chat;

/** The group of each moment, seen from `now` in a time zone. */
function keys(now: string, zone: string, ...times: string[]): string[] {
  const groups = groupsByTime(
    times.map((time) => chat(time)),
    Date.parse(now),
    calendarOf(zone),
  );
  return times.map((time) => groups.find(({ chats }) => chats.some(({ chatId }) => chatId === time))?.key ?? 'none');
}

const NOON = '2024-03-06T12:00:00Z';

test('seed 51: the bounds of a day, a week from Sunday, a month', () => {
  expect(
    keys(
      NOON,
      'UTC',
      '2024-03-06T00:00:00Z',
      '2024-03-05T23:59:59Z',
      '2024-03-05T00:00:00Z',
      '2024-03-04T23:59:59Z',
      '2024-03-03T00:00:00Z',
      '2024-03-02T23:59:59Z',
      '2024-03-01T00:00:00Z',
      '2024-02-29T23:59:59Z',
      '2031-01-01T00:00:00Z',
    ),
  ).toEqual([
    ...['today', 'yesterday', 'yesterday', 'this_week', 'this_week', 'this_month', 'this_month', 'earlier', 'today'],
  ]);
});

test('on a Sunday a week begins; on the first of a month the rest of the week is of the week', () => {
  expect(keys('2024-03-10T12:00:00Z', 'UTC', '2024-03-09T12:00:00Z', '2024-03-08T12:00:00Z')).toEqual([
    'yesterday',
    'this_month',
  ]);
  // A Friday: the Sunday before is of February, and of this week.
  expect(keys('2024-03-01T12:00:00Z', 'UTC', '2024-02-25T12:00:00Z', '2024-02-24T12:00:00Z')).toEqual([
    'this_week',
    'earlier',
  ]);
  expect(keys('2024-01-01T12:00:00Z', 'UTC', '2023-12-31T12:00:00Z', '2023-12-30T12:00:00Z')).toEqual([
    'yesterday',
    'earlier',
  ]);
});

test('days are those of the time zone, also where a day has 23 hours', () => {
  expect(keys(NOON, 'Asia/Tokyo', '2024-03-05T15:00:00Z', '2024-03-05T14:59:59Z')).toEqual(['today', 'yesterday']);
  expect(keys(NOON, 'America/New_York', '2024-03-06T04:59:59Z', '2024-03-06T05:00:00Z')).toEqual([
    'yesterday',
    'today',
  ]);
  // Clocks went forward in New York in the night to the 10th: its midnight was at 5:00 UTC, the next one at 4:00.
  expect(
    keys(
      '2024-03-11T12:00:00Z',
      'America/New_York',
      '2024-03-11T03:59:59Z',
      '2024-03-10T05:00:00Z',
      '2024-03-10T04:59:59Z',
    ),
  ).toEqual(['yesterday', 'yesterday', 'this_month']);
});

test('the last activity counts, and until there is one the creation', () => {
  const old = chat('2020-01-01T00:00:00Z', { lastMessageAt: '2024-03-06T01:00:00Z' });
  const groups = groupsByTime([old], Date.parse(NOON), calendarOf('UTC'));
  expect(groups).toEqual([{ key: 'today', label: 'Today', chats: [old], count: 1 }]);
  expect(groupsByTime([], Date.parse(NOON), calendarOf('UTC'))).toEqual([]);
});
