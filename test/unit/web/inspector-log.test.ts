import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isStart } from '../../../client/web/inspector/log/entry.js';
import { LogBook } from '../../../client/web/inspector/log/log-book.js';
import { filtered, NO_FILTER } from '../../../client/web/inspector/log/log-filter.js';
import { reachBack } from '../../../client/web/inspector/log/reach-back.js';
import { difference, retell } from '../../../client/web/inspector/log/retell.js';
import { foldChat, type ChatEvent, type ChatView, type EventBody, type Message } from '../../../protocol/index.js';
import { appended, chatRow, created, events, messageRow, turnRow } from '../client/rows.js';

const BEGIN = { why: 'opened', problem: '' } as const;
const empty = (offset = 0, hasMore = false): ChatView => ({
  chat: chatRow(),
  position: { epoch: 'e1', offset },
  ...{ messages: [], hasMore, turns: new Map(), steps: new Map(), deleted: false },
});

const contentOf = ({ props }: Message): string => (typeof props['content'] === 'string' ? props['content'] : '');

/** Views after each of some events; the first one before any. */
function viewsOf(start: ChatView, told: readonly ChatEvent[]): readonly ChatView[] {
  return told.reduce<ChatView[]>((views, event) => [...views, foldChat(views.at(-1)!, event)], [start]);
}

type Move = readonly ['create' | 'append' | 'close' | 'replace' | 'merge' | 'update' | 'delete', number];

/** A chat's events as a server could have sent them: each move of what there is then. */
function script(moves: readonly Move[]): ChatEvent[] {
  const told: ChatEvent[] = [];
  let view = empty();
  let sequence = 0;
  for (const [what, pick] of moves) {
    const body = bodyOf(what, view, pick, () => ++sequence);
    if (!body) continue;
    const [event] = events(told.length, [body]) as [ChatEvent];
    told.push(event);
    view = foldChat(view, event);
  }
  return told;
}

function bodyOf(what: Move[0], view: ChatView, pick: number, next: () => number): EventBody | null {
  if (what === 'create') {
    const sequence = next();
    return created(messageRow(sequence, { state: 'open', props: { content: '' } }));
  }
  const wanted = what === 'update' ? 'closed' : 'open';
  const able = view.messages.filter(({ state }) => what === 'delete' || state === wanted);
  const message = able[pick % Math.max(1, able.length)];
  if (!message) return null;
  const { messageId } = message;
  const text = contentOf(message);
  switch (what) {
    case 'append':
      return appended(messageId, text.length, `+${pick}`);
    case 'close':
      return { type: 'message.closed', messageId };
    case 'replace':
      return { type: 'message.replaced', messageId, messageType: 'text', props: { content: `replaced ${pick}` } };
    case 'merge':
      return { type: 'message.merged', messageId, path: '', value: { note: pick } };
    case 'update':
      return { type: 'message.updated', message: { ...message, props: { content: `edited ${pick}` } } };
    case 'delete':
      return { type: 'message.deleted', messageIds: [messageId] };
  }
}

const moves = fc.array(
  fc.tuple(
    fc.constantFrom<Move[0]>('create', 'create', 'append', 'append', 'close', 'replace', 'merge', 'update', 'delete'),
    fc.nat(50),
  ),
  { maxLength: 60 },
);

describe('the log, told again from a snapshot and the events that led to it', () => {
  test('shows nothing that did not stand there, and all that is known, wherever the kept log begins', () => {
    fc.assert(
      fc.property(moves, fc.nat(100), fc.integer({ min: 1, max: 200 }), (given, percent, limit) => {
        const told = script(given);
        const truth = viewsOf(empty(), told);
        const from = Math.floor((told.length * percent) / 101);
        const last = truth.at(-1)!;
        const window = { ...last, messages: last.messages.slice(-limit), hasMore: last.messages.length > limit };
        const { drafts, view } = retell(window, told.slice(from), BEGIN);

        expect(drafts.some((draft) => isStart(draft) && draft.why === 'misfit')).toBe(false);
        expect(drafts.filter((draft) => !isStart(draft))).toEqual(told.slice(from));
        expect(difference(view, window)).toBeNull();
        const first = drafts[0]!;
        if (!isStart(first)) throw new Error('the log begins with a view');
        const held = new Set([...first.view.messages.map(({ messageId }) => messageId), ...first.unknown]);
        for (const { messageId } of truth[from]!.messages) {
          const isShown = window.messages.some((message) => message.messageId === messageId);
          if (isShown) expect(held, 'each of the snapshot is known or said to be unknown').toContain(messageId);
        }

        const book = new LogBook();
        expect(book.add(drafts)).toBeNull();
        for (const entry of book.state.getSnapshot().entries) {
          const shown = book.viewAt(entry.id)!;
          const real = truth[shown.position.offset]!;
          for (const message of shown.messages) expect(real.messages).toContainEqual(message);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('is whole from its first offset where only texts grew, and says from where on where it is not', () => {
    const grown = events(0, [
      created(messageRow(1, { state: 'open', props: { content: 'a' } })),
      appended('message-1', 1, 'b'),
      appended('message-1', 2, 'c'),
      { type: 'message.closed', messageId: 'message-1' },
    ]);
    const truth = viewsOf(empty(), grown);
    const told = retell(truth[4]!, grown.slice(2), BEGIN);
    expect(told.drafts[0]).toMatchObject({ unknown: [], view: { messages: truth[2]!.messages, hasMore: false } });

    const merged = events(0, [
      created(messageRow(1, { state: 'open', props: { content: 'a' } })),
      appended('message-1', 1, 'b'),
      { type: 'message.set', messageId: 'message-1', path: 'content', value: 'other' },
      appended('message-1', 5, 's'),
    ]);
    const blind = retell(viewsOf(empty(), merged)[4]!, merged.slice(1), BEGIN);
    expect(blind.drafts[0]).toMatchObject({ unknown: ['message-1'], view: { messages: [], hasMore: true } });
    expect(blind.drafts[3]).toMatchObject({ why: 'whole', view: { messages: [{ props: { content: 'other' } }] } });
    expect(blind.view.messages).toMatchObject([{ props: { content: 'others' } }]);
  });

  test('DAT-4: goes on from the snapshot where the events give something else, and says what', () => {
    const told = events(0, [created(messageRow(1, { state: 'open', props: { content: 'a' } }))]);
    const [, view] = viewsOf(empty(), told);
    const other = { ...view!, messages: [{ ...view!.messages[0]!, props: { content: 'b' } }] };
    const { drafts } = retell(other, told, BEGIN);
    expect(drafts.at(-1)).toMatchObject({ why: 'misfit', view: other });
    expect(drafts.at(-1)).toHaveProperty('problem', 'Message message-1 is not what the events made of it.');
  });

  test('tells of turns as they were: waiting, running, or not there yet', () => {
    const running = turnRow('turn-1');
    const told = events(5, [
      { type: 'turn.ended', turn: { ...running, status: 'failed', stopReason: 'error' }, persisted: true },
      { type: 'turn.started', turn: turnRow('turn-2', { createdAt: '2025-12-31T23:59:00.000Z' }) },
      { type: 'turn.queued', turn: turnRow('turn-3', { status: 'queued' }) },
    ]);
    const after = viewsOf(empty(5), told).at(-1)!;
    const [start] = retell(after, told, BEGIN).drafts;
    if (!start || !isStart(start)) throw new Error('the log begins with a view');
    expect([...start.view.turns.values()].map(({ requestId, status }) => [requestId, status])).toEqual([
      ['turn-1', 'running'],
      ['turn-2', 'queued'],
    ]);
  });
});

describe('the book of a log', () => {
  const long = events(
    0,
    Array.from({ length: 2_000 }, (_, index) =>
      index === 0
        ? created(messageRow(1, { state: 'open', props: { content: '' } }))
        : appended('message-1', index - 1, 'x'),
    ),
  );

  test('gives the view at any of 2,000 places, in any order', () => {
    const book = new LogBook();
    expect(book.add([{ ...BEGIN, view: empty(), unknown: [] }, ...long])).toBeNull();
    const textAt = (id: number) => contentOf(book.viewAt(id)!.messages[0]!).length;
    for (const id of [2_000, 1, 999, 1_000, 998, 64, 63, 65, 1_999]) expect(textAt(id)).toBe(id - 1);
    expect(book.viewAt(0)?.messages).toEqual([]);
  });

  test('SUB-3: drops what it holds; SUB-4: takes nothing from a gap on', () => {
    const book = new LogBook();
    book.add([{ ...BEGIN, view: empty(), unknown: [] }, ...long.slice(0, 10)]);
    expect(book.add(long.slice(5, 12))).toBeNull();
    expect(book.state.getSnapshot().tip?.position.offset).toBe(12);
    expect(book.add(long.slice(13, 15))).toMatch(/^#14 message\.appended: event e1:14 after e1:12/);
    expect(book.state.getSnapshot().entries).toHaveLength(13);
  });

  test('is bounded: the oldest go, and a view stands for them', () => {
    const book = new LogBook();
    book.add([{ ...BEGIN, view: empty(), unknown: [] }]);
    const bodies = (from: number) =>
      events(
        from,
        Array.from({ length: 1_000 }, () => ({ type: 'turn.persisted' as const })),
      );
    for (let offset = 0; offset < 25_000; offset += 1_000) book.add(bodies(offset));
    const { entries, tip } = book.state.getSnapshot();
    expect(entries.length).toBeLessThanOrEqual(20_000);
    expect(entries[0]).toMatchObject({ kind: 'start', why: 'trimmed' });
    expect(tip?.position.offset).toBe(25_000);
    expect(entries.every(({ id }, index) => id === entries[0]!.id + index)).toBe(true);
    expect(book.viewAt(entries[0]!.id + 7)?.position.offset).toBe(book.viewAt(entries[0]!.id)!.position.offset + 7);
  });

  test('lists what a filter asks for: type, group of types, turn, words in whatever field', () => {
    const book = new LogBook();
    const told = events(0, [
      { type: 'turn.started', turn: turnRow('turn-1') },
      created(messageRow(1, { state: 'open', props: { content: 'Needle' } })),
      appended('message-1', 6, ' and thread'),
      { type: 'turn.ended', turn: turnRow('turn-1', { status: 'completed' }), persisted: true },
    ]);
    book.add([{ ...BEGIN, view: empty(), unknown: [] }, ...told]);
    const { entries } = book.state.getSnapshot();
    const offsets = (filter: Partial<typeof NO_FILTER>) =>
      filtered(entries, { ...NO_FILTER, ...filter }).map((entry) => (entry.kind === 'event' ? entry.event.offset : 0));
    expect(filtered(entries, NO_FILTER), 'the very list where nothing is filtered').toBe(entries);
    expect(offsets({ type: 'turn' })).toEqual([0, 1, 4]);
    expect(offsets({ type: 'message.appended' })).toEqual([0, 3]);
    expect(offsets({ text: 'NEEDLE' })).toEqual([2]);
    expect(offsets({ text: 'message-1', type: 'message' })).toEqual([2, 3]);
    expect(offsets({ turn: 'turn-1' })).toEqual([1, 2, 4]);
  });
});

describe('SUB-2: how far back the server replays', () => {
  const log = events(
    0,
    Array.from({ length: 1_500 }, () => ({ type: 'turn.persisted' as const })),
  );

  test.each([0, 1, 2, 7, 999, 1_000, 1_001, 1_500])(
    'is found for a log that ends at %i, with few questions',
    async (end) => {
      for (const kept of [0, 1, Math.floor(end / 2), end]) {
        let questions = 0;
        const found = await reachBack({ epoch: 'e1', offset: end }, async ({ offset }) => {
          questions++;
          return end - offset > Math.min(1_000, kept) ? null : log.slice(offset, end);
        });
        expect(found).toEqual(log.slice(end - Math.min(1_000, kept), end));
        expect(questions).toBeLessThanOrEqual(12);
      }
    },
  );
});
