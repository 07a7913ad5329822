import { invalid } from './error.js';
import type { Chat } from './chat.js';

const LABELS = {
  today: 'Today',
  yesterday: 'Yesterday',
  this_week: 'This Week',
  this_month: 'This Month',
  earlier: 'Earlier',
} as const;

/** Chats of one stretch of time, in the order of the list. */
export interface ChatGroup {
  readonly key: keyof typeof LABELS;
  readonly label: string;
  readonly chats: readonly Chat[];
  readonly count: number;
}

const KEYS = Object.keys(LABELS) as ChatGroup['key'][];
const DAY_MS = 86_400_000;

/** The calendar days of a time zone. */
export interface Calendar {
  /** Days since 1970-01-01 there, of a moment in milliseconds; and that of the first of its month. */
  dayOf(ms: number): { readonly day: number; readonly monthStart: number };
}

/** @throws {YaoStoreError} `bad_request` for a zone that there is none of */
export function calendarOf(timeZone: string): Calendar {
  const format = formatOf(timeZone);
  return {
    dayOf(ms) {
      const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
      const [year = 0, month = 1, date = 1] = [parts.get('year'), parts.get('month'), parts.get('day')];
      const dayIn = (dateInMonth: number): number => Date.UTC(year, month - 1, dateInMonth) / DAY_MS;
      return { day: dayIn(date), monthStart: dayIn(1) };
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    const calendar = { calendar: 'iso8601', numberingSystem: 'latn', timeZone } as const;
    return new Intl.DateTimeFormat('en', { ...calendar, year: 'numeric', month: 'numeric', day: 'numeric' });
  } catch {
    throw invalid(`there is no time zone ${timeZone}`);
  }
}

/**
 * The chats of a page by their last activity, until there is one by their creation: today, which holds the future too,
 * yesterday, this week, which begins on Sunday, this month, earlier. A group without a chat is left out.
 */
export function groupsByTime(chats: readonly Chat[], now: number, calendar: Calendar): ChatGroup[] {
  const { day: today, monthStart } = calendar.dayOf(now);
  // 1970-01-01 was a Thursday.
  const weekStart = today - ((today + 4) % 7);
  const keyOf = ({ lastMessageAt, createdAt }: Chat): ChatGroup['key'] => {
    const { day } = calendar.dayOf(Date.parse(lastMessageAt ?? createdAt));
    if (day >= today) return 'today';
    if (day === today - 1) return 'yesterday';
    if (day >= weekStart) return 'this_week';
    return day >= monthStart ? 'this_month' : 'earlier';
  };
  const keyed = chats.map((chat) => ({ chat, key: keyOf(chat) }));
  return KEYS.flatMap((key) => {
    const mine = keyed.flatMap((one) => (one.key === key ? [one.chat] : []));
    return mine.length === 0 ? [] : [{ key, label: LABELS[key], chats: mine, count: mine.length }];
  });
}
