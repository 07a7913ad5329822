import type { ArgsInput, Chat as ChatRow, ChatError, Result, User } from '../protocol/index.js';
import type { ChatNews } from './chat-news.js';
import { belongs, compareChats, timeOf, type ChatQuery } from './chat-query.js';
import { newerRow, withoutRow, withRow } from './chat-rows.js';
import type { Clock } from './clock.js';
import type { ConnectionState } from './connection-state.js';
import { Residence } from './residence.js';
import { Held, type Listeners, type Store } from './store.js';
import type { WakeSource } from './wake.js';

/** A list of chats as far as it was read: an immutable value, and the same reference until something in it changes. */
export interface ChatListSnapshot {
  /** `loading`: never read yet. `refused`: could not be read (again); what is held stands. */
  readonly status: 'loading' | 'ready' | 'refused';
  /** In the order of the query. A row that did not change keeps its reference. */
  readonly chats: readonly ChatRow[];
  /** Whether there are more behind those held. */
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why the last reading failed, else null. */
  readonly error: ChatError | null;
}

export interface ChatListNeeds {
  readonly query: ChatQuery;
  readonly pageSize: number;
  readonly leaveGraceMs: number;
  readonly list: (args: ArgsInput<'chat:list'>) => Promise<Result<'chat:list'>>;
  readonly connection: Store<ConnectionState>;
  readonly news: Pick<Listeners<[ChatNews]>, 'add'>;
  readonly user: () => User | null;
  readonly clock: Clock;
  readonly wake: WakeSource;
}

export const EMPTY_LIST: ChatListSnapshot = {
  status: 'loading',
  chats: [],
  hasMore: false,
  isLoadingMore: false,
  error: null,
};

const MAX_PAGE = 100;

/**
 * The chats of a query, as far as they were read. While it is watched it keeps up with all that the client comes to know
 * of chats, and is read again when the connection is back and when the page is: the contract does not tell of chats that
 * nobody here follows.
 *
 * Pages are found by the time of the last row that is held, so that chats which move meanwhile hide none.
 */
export class ChatList {
  readonly #snapshot = new Held<ChatListSnapshot>(EMPTY_LIST);
  readonly #residence: Residence;
  #reading: Promise<void> | null = null;
  #again = false;
  /** Readings from the top that were begun. */
  #readings = 0;
  #more: Promise<void> | null = null;
  /** What came to be known while a page was on its way: it may be newer. */
  #heard: ChatNews[] = [];
  #ends: (() => void)[] = [];

  /** What the list looks like. To subscribe is to have it read, and kept. */
  readonly view: Store<ChatListSnapshot>;

  constructor(private readonly needs: ChatListNeeds) {
    this.#residence = new Residence(needs.clock, needs.leaveGraceMs, {
      enter: () => this.#enter(),
      leave: () => {
        for (const end of this.#ends.splice(0)) end();
      },
    });
    this.view = {
      getSnapshot: this.#snapshot.getSnapshot,
      subscribe: (listener) => {
        const end = this.#snapshot.subscribe(listener);
        const leave = this.#residence.enter();
        return () => {
          end();
          leave();
        };
      },
    };
  }

  /** Reads again what is held. Resolves when it was read, or could not be: then the list says so. */
  refresh(): Promise<void> {
    if (this.#reading) this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Reads the next page. During another call it is answered with that one. */
  loadMore(): Promise<void> {
    this.#more ??= this.#readMore().finally(() => {
      this.#more = null;
      this.#change({ isLoadingMore: false });
    });
    return this.#more;
  }

  #enter(): void {
    const { connection, news, wake } = this.needs;
    let wasOpen = connection.getSnapshot().status === 'open';
    this.#ends = [
      news.add((item) => this.#hear(item)),
      wake(() => void this.refresh()),
      connection.subscribe(() => {
        const isOpen = connection.getSnapshot().status === 'open';
        // What is being read at present was sent over this connection, or is about to be.
        if (isOpen && !wasOpen && !this.#reading) void this.refresh();
        wasOpen = isOpen;
      }),
    ];
    void this.refresh();
  }

  async #readAll(): Promise<void> {
    do {
      this.#again = false;
      this.#readings++;
      this.#heard = [];
      const wanted = this.#snapshot.getSnapshot().chats.length;
      try {
        let rows: readonly ChatRow[] = [];
        let hasMore = true;
        while (hasMore && (rows.length === 0 || rows.length < wanted)) {
          ({ rows, hasMore } = await this.#page(rows, Math.max(this.needs.pageSize, wanted - rows.length)));
        }
        this.#take(rows, hasMore);
      } catch (error) {
        this.#change({ status: 'refused', error: error as ChatError });
      }
    } while (this.#again);
  }

  async #readMore(): Promise<void> {
    await this.#reading;
    const { chats, hasMore } = this.#snapshot.getSnapshot();
    if (!hasMore) return;
    this.#change({ isLoadingMore: true });
    this.#heard = [];
    const readings = this.#readings;
    try {
      const next = await this.#page(chats, this.needs.pageSize);
      // A reading from the top that has begun meanwhile has more to say.
      if (readings === this.#readings) this.#take(next.rows, next.hasMore);
    } catch (error) {
      this.#change({ status: 'refused', error: error as ChatError });
    }
  }

  /** The rows with a page more. Rows of one moment may fill more than a page: then it is the next one of that moment. */
  async #page(
    rows: readonly ChatRow[],
    wanted: number,
  ): Promise<{ readonly rows: readonly ChatRow[]; readonly hasMore: boolean }> {
    const { query, list } = this.needs;
    const last = rows.at(-1);
    const held = new Set(rows.map(({ chatId }) => chatId));
    for (let page = 1; ; page++) {
      const args = { ...bounded(query, last), page, pageSize: Math.min(MAX_PAGE, wanted) };
      const { data, pageCount } = await list(args);
      const fresh = data.filter(({ chatId }) => !held.has(chatId));
      const hasMore = page < pageCount;
      if (fresh.length > 0 || !hasMore) return { rows: [...rows, ...fresh], hasMore };
    }
  }

  /** What was read, each row as new as it is known, with what came to be known meanwhile on top. */
  #take(read: readonly ChatRow[], hasMore: boolean): void {
    const held = new Map(this.#snapshot.getSnapshot().chats.map((row) => [row.chatId, row]));
    const chats = read
      .map((row) => {
        const known = held.get(row.chatId);
        return known ? newerRow(known, row) : row;
      })
      .sort((a, b) => compareChats(this.needs.query, a, b));
    this.#change({ status: 'ready', error: null, chats, hasMore });
    for (const item of this.#heard.splice(0)) this.#apply(item);
  }

  #hear(item: ChatNews): void {
    if (item.type === 'unsure') return void this.refresh();
    if (this.#reading || this.#more) this.#heard.push(item);
    this.#apply(item);
  }

  #apply(item: ChatNews): void {
    const { chats, hasMore, status } = this.#snapshot.getSnapshot();
    // Before the first reading there is no list that something could be missing in.
    if (status === 'loading' || item.type === 'unsure') return;
    const { query, user } = this.needs;
    if (item.type === 'gone') return this.#change({ chats: withoutRow(chats, item.chatId) });
    const { chat } = item;
    if (!belongs(query, user(), chat)) return this.#change({ chats: withoutRow(chats, chat.chatId) });
    const next = withRow(query, chats, chat);
    const isBehindAll = hasMore && next.at(-1)?.chatId === chat.chatId && chats.at(-1)?.chatId !== chat.chatId;
    // Behind what is held there may be others before it: it is read with them.
    this.#change({ chats: isBehindAll ? withoutRow(chats, chat.chatId) : next });
  }

  #change(change: Partial<ChatListSnapshot>): void {
    const before = this.#snapshot.getSnapshot();
    const after = { ...before, ...change };
    const keys = Object.keys(after) as (keyof ChatListSnapshot)[];
    if (keys.some((key) => after[key] !== before[key])) this.#snapshot.set(after);
  }
}

/** The query of what comes from a row on, the row included. */
function bounded(query: ChatQuery, row: ChatRow | undefined): Omit<ArgsInput<'chat:list'>, 'page' | 'pageSize'> {
  const timeField = query.orderBy ?? 'lastMessageAt';
  if (!row) return { ...query, timeField };
  const time = timeOf(query, row);
  return { ...query, timeField, ...(query.order === 'asc' ? { startTime: time } : { endTime: time }) };
}
