import { commands, type ArgsInput, type ChatCommands, type Result } from '../../protocol/index.js';
import { chatOf, type Chat } from './chat.js';
import { invalid, told } from './error.js';
import { countOr, given, mustBeFilters } from './given.js';
import { momentOf, type Moment } from './time.js';
import { groupsByTime, type Calendar, type ChatGroup } from './time-groups.js';

type ListArgs = ArgsInput<'chat:list'>;

/** Conditions joined by AND, within what the caller may read. Nothing, 0 and an empty text stand for the default. */
export interface ChatFilter {
  /** Who created it. */
  readonly userId?: string;
  readonly teamId?: string;
  readonly assistantId?: string;
  readonly status?: string;
  /** A literal part of the title, in any case. */
  readonly keywords?: string;
  /** Bounds on `timeField`, both inclusive. */
  readonly startTime?: Moment;
  readonly endTime?: Moment;
  readonly timeField?: 'lastMessageAt' | 'createdAt' | 'updatedAt';
  readonly orderBy?: 'lastMessageAt' | 'createdAt' | 'updatedAt';
  readonly order?: 'asc' | 'desc';
  readonly groupBy?: 'time';
  readonly page?: number;
  /** Default: 20. */
  readonly pageSize?: number;
}

const FILTERS: readonly (keyof ChatFilter)[] = [
  ...(['userId', 'teamId', 'assistantId', 'status', 'keywords', 'startTime', 'endTime'] as const),
  ...(['timeField', 'orderBy', 'order', 'groupBy', 'page', 'pageSize'] as const),
];

export interface ChatList {
  readonly data: Chat[];
  /** With `groupBy`: the chats of this page, by time. */
  readonly groups?: ChatGroup[];
  readonly page: number;
  readonly pageSize: number;
  /** At least 1. */
  readonly pageCount: number;
  readonly total: number;
}

/** When lists are read, in which time zone. */
export interface ListTime {
  readonly now: (() => number) | undefined;
  readonly calendar: Calendar;
}

const PAGE_SIZE = 20;
/** The most that one command gives; a larger page is put together from several. */
const MOST = 100;

/** @throws {YaoStoreError} `bad_request` */
export async function listChats(chats: ChatCommands, filter: ChatFilter, time: ListTime): Promise<ChatList> {
  mustBeFilters(filter, FILTERS);
  const page = countOr(filter.page, 'page', 1);
  const pageSize = countOr(filter.pageSize, 'page_size', PAGE_SIZE);
  const range = rangeOf(filter);
  const now = groupingTime(filter, time);
  const { rows, total } = canMatch(range)
    ? await rowsOf((number, size) => told(chats.call('chat:list', { ...range, page: number, pageSize: size })), {
        page,
        pageSize,
      })
    : { rows: [], total: 0 };
  const data = rows.map(chatOf);
  return {
    data,
    ...(now === undefined ? {} : { groups: groupsByTime(data, now, time.calendar) }),
    page,
    pageSize,
    pageCount: Math.max(1, Math.ceil(total / pageSize)),
    total,
  };
}

/** @throws {YaoStoreError} `bad_request` for a grouping that there is none of, or where nobody said what time it is */
function groupingTime({ groupBy }: ChatFilter, { now }: ListTime): number | undefined {
  const asked: unknown = groupBy;
  if (asked === undefined || asked === null || asked === '') return undefined;
  if (asked !== 'time') throw invalid('chats are grouped by time only');
  if (!now) throw invalid('grouping by time needs to know the time: the option now');
  return now();
}

function rangeOf(filter: ChatFilter): ListArgs {
  const { userId, startTime, endTime } = filter;
  const { teamId, assistantId, status, keywords, timeField, orderBy, order } = filter;
  const said = given({ createdBy: userId, teamId, assistantId, status, keywords, timeField, orderBy, order });
  return {
    ...said,
    scope: 'all',
    ...(startTime ? { startTime: momentOf(startTime, 'start_time') } : {}),
    ...(endTime ? { endTime: momentOf(endTime, 'end_time') } : {}),
  } as ListArgs; // A status that there is none of is for `canMatch`.
}

/** A name that nothing here can have matches nothing, and is no mistake: of the same form are those that could be there. */
function canMatch(range: ListArgs): boolean {
  const { createdBy, teamId, assistantId, status, keywords } = commands['chat:list'].args.shape;
  const fields = { createdBy, teamId, assistantId, status, keywords };
  return Object.entries(fields).every(([key, schema]) => {
    const value = range[key as keyof typeof fields];
    return typeof value !== 'string' || schema.safeParse(value).success;
  });
}

interface Window {
  readonly page: number;
  readonly pageSize: number;
}

async function rowsOf(
  read: (page: number, pageSize: number) => Promise<Result<'chat:list'>>,
  { page, pageSize }: Window,
): Promise<{ rows: Result<'chat:list'>['data']; total: number }> {
  if (pageSize <= MOST) {
    const { data, total } = await read(page, pageSize);
    return { rows: data, total };
  }
  const skipped = (page - 1) * pageSize;
  const first = Math.floor(skipped / MOST) + 1;
  // By id: a chat that becomes active meanwhile is pushed from one page into the next.
  const found = new Map<string, Result<'chat:list'>['data'][number]>();
  for (let number = first; ; number++) {
    const { data, total } = await read(number, MOST);
    for (const chat of data) found.set(chat.chatId, chat);
    if (data.length === MOST && number * MOST < skipped + pageSize) continue;
    const from = skipped - (first - 1) * MOST;
    return { rows: [...found.values()].slice(from, from + pageSize), total };
  }
}
