import { describe, expect, it, vi } from 'vitest';
import { live } from './live-chat.js';
import { appended, created, events, messageRow, snapshot } from './rows.js';
import { reconnect } from './connected.js';

const open = messageRow(2, { state: 'open', props: { content: '' } });

describe('messages one by one', () => {
  it('tells those who watch a message of its words, and nobody else', async () => {
    const { chat, link } = await live([messageRow(1), open]);
    const [first, second, ids] = [vi.fn(), vi.fn(), vi.fn()];
    chat.message('message-1').subscribe(first);
    chat.message('message-2').subscribe(second);
    chat.messageIds.subscribe(ids);
    const idsBefore = chat.messageIds.getSnapshot();
    link.emit('events', events(10, [appended('message-2', 0, 'word')]));
    expect([first, second, ids].map((told) => told.mock.calls.length)).toEqual([0, 1, 0]);
    expect(chat.message('message-2').getSnapshot()?.props).toEqual({ content: 'word' });
    expect(chat.messageIds.getSnapshot()).toBe(idsBefore);
  });

  it('tells of a message that comes, and of one that goes', async () => {
    const { chat, link } = await live([messageRow(1)]);
    const [coming, ids] = [vi.fn(), vi.fn()];
    const store = chat.message('message-2');
    store.subscribe(coming);
    chat.messageIds.subscribe(ids);
    expect(store.getSnapshot()).toBeNull();
    link.emit('events', events(10, [created(messageRow(2))]));
    expect(store.getSnapshot()).toEqual(messageRow(2));
    link.emit('events', events(11, [{ type: 'message.deleted', messageIds: ['message-2'] }]));
    expect(store.getSnapshot()).toBeNull();
    expect(chat.messageIds.getSnapshot()).toEqual(['message-1']);
    expect([coming, ids].map((told) => told.mock.calls.length)).toEqual([2, 2]);
  });

  it('shows one version everywhere, whoever is told first', async () => {
    const { chat, link } = await live([messageRow(1), open]);
    const seen: unknown[] = [];
    const look = (): void => {
      const inView = chat.view.getSnapshot().messages.at(-1);
      const alone = chat.message('message-2').getSnapshot();
      seen.push(inView === alone && chat.messageIds.getSnapshot().length === chat.view.getSnapshot().messages.length);
    };
    chat.view.subscribe(look);
    chat.message('message-2').subscribe(look);
    chat.messageIds.subscribe(look);
    link.emit('events', events(10, [appended('message-2', 0, 'word')]));
    expect(seen).toEqual([true, true]);
  });

  it('a word that was read before anybody was told is told all the same', async () => {
    const { chat, link } = await live([messageRow(1), open]);
    const told = vi.fn();
    // Reads all as soon as the view has changed.
    chat.view.subscribe(() => void chat.message('message-1').getSnapshot());
    chat.message('message-2').subscribe(told);
    link.emit('events', events(10, [appended('message-2', 0, 'word')]));
    expect(told).toHaveBeenCalledOnce();
  });

  it('one who has gone is told no more; one who came back is', async () => {
    const { chat, link } = await live([messageRow(1), open]);
    const [first, second] = [vi.fn(), vi.fn()];
    const end = chat.message('message-2').subscribe(first);
    const endAgain = chat.message('message-2').subscribe(first);
    end();
    endAgain();
    chat.message('message-2').subscribe(second);
    end();
    link.emit('events', events(10, [appended('message-2', 0, 'word')]));
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledOnce();
  });

  it('a snapshot after a loss tells of those that it changes', async () => {
    const scene = await live([messageRow(1), messageRow(2)]);
    const [same, other] = [vi.fn(), vi.fn()];
    scene.chat.message('message-1').subscribe(same);
    scene.chat.message('message-2').subscribe(other);
    const link = await reconnect(scene);
    link.last('chat:subscribe').ok(snapshot(20, [messageRow(1), messageRow(2, { props: { content: 'edited' } })]));
    expect(same).not.toHaveBeenCalled();
    expect(other).toHaveBeenCalledOnce();
  });

  it('to watch a message is to follow its chat', async () => {
    const { chat, link, unwatch, clock } = await live([messageRow(1)]);
    const end = chat.message('message-1').subscribe(() => undefined);
    unwatch();
    clock.advance(60_000);
    expect(link.of('chat:unsubscribe')).toEqual([]);
    end();
    clock.advance(60_000);
    expect(link.of('chat:unsubscribe')).toHaveLength(1);
  });
});
