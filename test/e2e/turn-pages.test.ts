import { expect, test } from 'vitest';
import type { Result, Turn } from '../../protocol/index.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { scene } from './scene.js';

const bytesOf = (turns: readonly Turn[]): number => Buffer.byteLength(JSON.stringify(turns));
const idsOf = (turns: readonly Turn[] = []): string[] => turns.map(({ requestId }) => requestId);
const MAX = 10_000;
const large = { x: 'x'.repeat(3000) };

test('DAT-3: a page of turns is cut by bytes, newest first, at least one', async () => {
  const here = await scene({ env: { MAX_PAGE_BYTES: String(MAX) } });
  const { person, chatId } = here;
  const ids: string[] = [];
  for (const metadata of [large, large, { x: 'x'.repeat(2 * MAX) }, large, large, large, large]) {
    const run = await here.turn({ metadata });
    await run.close();
    await person.ended(chatId, run.requestId);
    ids.unshift(run.requestId);
  }
  const list = (before?: string) =>
    person.do<Result<'turn:list'>>('turn:list', { chatId, ...(before ? { before } : {}) });

  const first = await list();
  expect([idsOf(first.turns), first.hasMore]).toEqual([ids.slice(0, 2), true]);
  const all: Turn[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await list(all.at(-1)?.requestId);
    expect(page.turns.length).toBeGreaterThan(0);
    if (page.turns.length > 1) expect(bytesOf(page.turns)).toBeLessThanOrEqual(MAX);
    all.push(...page.turns);
    hasMore = page.hasMore;
  }
  expect(idsOf(all)).toEqual(ids);
});

test('DAT-3: a snapshot counts its turns: fewer messages come with large ones, and those that are not over always come', async () => {
  const here = await scene({ env: { MAX_PAGE_BYTES: String(MAX) } });
  const { person, chatId, url } = here;
  const subscribe = async () => (await new Person(url).open()).do('chat:subscribe', { chatId });
  const ended: string[] = [];
  for (let round = 0; round < 5; round++) {
    const run = await here.turn({ metadata: large });
    await run.send('a');
    await run.send('b');
    await run.close();
    await person.ended(chatId, run.requestId);
    ended.push(run.requestId);
  }
  const few = await subscribe();
  expect(idsOf(few.turns).sort()).toEqual(ended.slice(-2).sort());
  expect(bytesOf(few.turns ?? []) + Buffer.byteLength(JSON.stringify(few.messages))).toBeLessThanOrEqual(MAX);
  expect(few.messages?.length).toBe(6);
  expect(few.hasMore).toBe(true);

  const running = await here.turn({ metadata: { x: 'x'.repeat(2 * MAX) } });
  const open = await running.send('open');
  const queued = uid('r');
  await person.start(chatId, 'next', { requestId: queued, metadata: large });
  const full = await subscribe();
  expect(full.messages?.map(({ messageId }) => messageId)).toContain(open);
  expect(idsOf(full.turns).sort()).toEqual([running.requestId, queued].sort());
  expect([full.messages?.length, full.hasMore]).toEqual([2, true]);
});

test('turn:list: a `before` that is no turn of this chat is not_found, not the end of the list', async () => {
  const { url } = await startServer();
  const person = await new Person(url).open();
  const [chatId, other] = [await person.createChat(), await person.createChat()];
  const { turn } = await person.start(other, 'hi');
  for (const before of [uid('r'), turn.requestId]) {
    expect(await person.refused('turn:list', { chatId, before })).toMatchObject({
      code: 'not_found',
      details: { path: 'before' },
    });
  }
  expect(await person.do('turn:list', { chatId: other, before: turn.requestId })).toEqual({
    turns: [],
    hasMore: false,
  });
});
