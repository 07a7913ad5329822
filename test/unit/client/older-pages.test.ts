import { describe, expect, it } from 'vitest';
import type { Chat } from '../../../client/index.js';
import type { Message } from '../../../protocol/index.js';
import { connectedScene, reconnect, type Scene } from './connected.js';
import { settle } from './fake-clock.js';
import type { FakeLink } from './fake-transport.js';
import { appended, CHAT, created, events, messageRow, position, snapshot } from './rows.js';

const range = (from: number, to: number): Message[] =>
  Array.from({ length: to - from + 1 }, (_, index) => messageRow(from + index));
const sequences = (chat: Chat): number[] => chat.view.getSnapshot().messages.map(({ sequence }) => sequence);
const page = (messages: readonly Message[], offset: number, hasMore: boolean, epoch = 'e1') => ({
  messages: [...messages],
  hasMore,
  position: position(offset, epoch),
});

/** A chat with messages 51…60 of 60, at offset 100. */
async function scene(): Promise<Scene & { link: FakeLink; chat: Chat }> {
  const made = await connectedScene();
  const chat = made.client.chat(CHAT);
  chat.open();
  made.link.last('chat:subscribe').ok(snapshot(100, range(51, 60), { hasMore: true }));
  return { ...made, chat };
}

describe('older messages', () => {
  it('are laid below what is held, once for callers at the same time', async () => {
    const { chat, link } = await scene();
    const loads = [chat.loadOlder(5), chat.loadOlder(5)];
    expect(link.of('message:list').map(({ args }) => args)).toEqual([{ chatId: CHAT, before: 51, limit: 5 }]);
    link.last('message:list').ok(page(range(46, 50), 100, true));
    await Promise.all(loads);
    expect(sequences(chat)).toEqual(range(46, 60).map(({ sequence }) => sequence));
    expect(chat.view.getSnapshot().hasMore).toBe(true);
    const rest = chat.loadOlder();
    link.last('message:list').ok(page(range(1, 45), 100, false));
    await rest;
    expect(sequences(chat)).toHaveLength(60);
    expect(chat.view.getSnapshot().hasMore).toBe(false);
    await chat.loadOlder();
    expect(link.of('message:list')).toHaveLength(2);
  });

  it('C40, SUB-3: events newer than the page stand on top of it', async () => {
    const { chat, link } = await scene();
    const load = chat.loadOlder();
    const edited = messageRow(49, { props: { content: 'edited' } });
    link.emit(
      'events',
      events(100, [
        { type: 'message.updated', message: edited },
        { type: 'message.deleted', messageIds: ['message-48'] },
        created(messageRow(61)),
      ]),
    );
    link.last('message:list').ok(page(range(47, 50), 100, true));
    await load;
    expect(sequences(chat)).toEqual([47, 49, ...range(50, 61).map(({ sequence }) => sequence)]);
    expect(chat.view.getSnapshot().messages[1]?.props['content']).toBe('edited');
  });

  it('C40, SUB-3: a page that is newer than the view waits for it, and no event is applied twice', async () => {
    const { chat, link } = await scene();
    const load = chat.loadOlder();
    const open = messageRow(50, { state: 'open', props: { content: 'ab' } });
    link.last('message:list').ok(page([open], 102, true));
    await settle();
    expect(sequences(chat)).toHaveLength(10);
    const append = (from: number, text: string) => appended('message-50', from, text);
    link.emit('events', events(100, [append(0, 'a'), append(1, 'b'), append(2, 'c')]));
    await load;
    expect(chat.view.getSnapshot().messages[0]?.props['content']).toBe('abc');
  });

  it('are the newest page once all that was held is deleted, with what came meanwhile on top', async () => {
    const { chat, link } = await scene();
    const messageIds = range(51, 60).map(({ messageId }) => messageId);
    link.emit('events', events(100, [{ type: 'message.deleted', messageIds }]));
    expect([sequences(chat), chat.view.getSnapshot().hasMore]).toEqual([[], true]);
    const load = chat.loadOlder(5);
    expect(link.last('message:list').args).toEqual({ chatId: CHAT, limit: 5 });
    link.emit('events', events(101, [created(messageRow(61))]));
    link.last('message:list').ok(page(range(46, 50), 101, true));
    await load;
    expect([sequences(chat), chat.view.getSnapshot().hasMore]).toEqual([[46, 47, 48, 49, 50, 61], true]);
    void chat.loadOlder(5);
    expect(link.last('message:list').args).toMatchObject({ before: 46 });
  });

  it('are read anew where a snapshot came in between', async () => {
    const made = await scene();
    const load = made.chat.loadOlder(5);
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(500, range(71, 80), { hasMore: true }));
    link.of('message:list')[0]?.ok(page(range(46, 50), 100, true));
    await settle();
    expect(link.last('message:list').args).toEqual({ chatId: CHAT, before: 71, limit: 5 });
    link.last('message:list').ok(page(range(66, 70), 500, true));
    await load;
    expect(sequences(made.chat)).toEqual(range(66, 80).map(({ sequence }) => sequence));
  });

  it('C40: a late answer for a chat that was left is ignored', async () => {
    const { chat, link, clock } = await scene();
    const load = chat.loadOlder();
    chat.close();
    clock.advance(1_000);
    await load;
    link.last('message:list').ok(page(range(1, 50), 100, false));
    await settle();
    expect(sequences(chat)).toHaveLength(10);
  });

  it('give the refusal to who asked', async () => {
    const { chat, link } = await scene();
    const load = chat.loadOlder();
    link.last('message:list').refuse('rate_limited');
    await expect(load).rejects.toMatchObject({ code: 'rate_limited' });
    const again = chat.loadOlder();
    link.last('message:list').ok(page(range(1, 50), 100, false));
    await again;
    expect(sequences(chat)).toHaveLength(60);
  });
});

describe('older messages over a snapshot', () => {
  async function withOlder(): Promise<Scene & { chat: Chat }> {
    const made = await scene();
    const load = made.chat.loadOlder(10);
    made.link.last('message:list').ok(page(range(41, 50), 100, true));
    await load;
    return made;
  }

  it('stay where they join up, and are read again', async () => {
    const made = await withOlder();
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(500, range(56, 65), { hasMore: true }));
    expect(sequences(made.chat)).toEqual(range(41, 65).map(({ sequence }) => sequence));
    expect(made.chat.view.getSnapshot().hasMore).toBe(true);
    expect(link.last('message:list').args).toEqual({ chatId: CHAT, before: 56, limit: 200 });
    const now = range(30, 55).filter(({ sequence }) => sequence !== 44);
    const edited = { ...now[0]!, props: { content: 'edited' } };
    link.last('message:list').ok(page([edited, ...now.slice(1)], 500, true));
    await settle();
    expect(sequences(made.chat)).toEqual([...now, ...range(56, 65)].map(({ sequence }) => sequence));
    expect(made.chat.view.getSnapshot().messages[0]).toEqual(edited);
    expect(link.of('message:list')).toHaveLength(1);
  });

  it('are dropped where there is a hole, and can be loaded again', async () => {
    const made = await withOlder();
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(500, range(71, 80), { hasMore: true }));
    expect(sequences(made.chat)).toEqual(range(71, 80).map(({ sequence }) => sequence));
    expect(made.chat.view.getSnapshot().hasMore).toBe(true);
    expect(link.of('message:list')).toHaveLength(0);
  });

  it('go where the snapshot is all there is', async () => {
    const made = await withOlder();
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(500, range(58, 60), { hasMore: false }));
    expect(sequences(made.chat)).toEqual([58, 59, 60]);
    expect(made.chat.view.getSnapshot().hasMore).toBe(false);
  });

  it('are dropped where they cannot be read again', async () => {
    const made = await withOlder();
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(500, range(56, 65), { hasMore: true }));
    link.last('message:list').refuse('storage_unavailable');
    await settle();
    expect(sequences(made.chat)).toEqual(range(56, 65).map(({ sequence }) => sequence));
    expect(made.chat.view.getSnapshot().hasMore).toBe(true);
  });

  it('DAT-3: a hole behind an open message of a snapshot is filled', async () => {
    const { client, link } = await connectedScene();
    const chat = client.chat(CHAT);
    chat.open();
    const open = messageRow(10, { state: 'open' });
    link.last('chat:subscribe').ok(snapshot(100, [open, ...range(20, 25)], { hasMore: true }));
    expect(link.last('message:list').args).toMatchObject({ before: 20 });
    link.last('message:list').ok(page([open, ...range(15, 19)], 100, true));
    await settle();
    expect(link.last('message:list').args).toMatchObject({ before: 15 });
    link.last('message:list').ok(page([...range(8, 9), open, ...range(11, 14)], 100, true));
    await settle();
    expect(sequences(chat)).toEqual(range(8, 25).map(({ sequence }) => sequence));
    expect(link.of('message:list')).toHaveLength(2);
  });
});
