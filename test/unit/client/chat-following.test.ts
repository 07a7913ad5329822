import { describe, expect, it, vi } from 'vitest';
import type { Chat } from '../../../client/index.js';
import { connectedScene, reconnect } from './connected.js';
import { live, watched } from './live-chat.js';
import { appended, CHAT, chatRow, created, events, messageRow, position, replay, snapshot, turnRow } from './rows.js';

const texts = (chat: Chat): unknown[] => chat.view.getSnapshot().messages.map(({ props }) => props['content']);

describe('following a chat', () => {
  it('SUB-1: shows the snapshot', async () => {
    const { chat, link } = await watched();
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'loading', chat: null, messages: [], position: null });
    expect(link.last('chat:subscribe').args).toEqual({ chatId: CHAT, messageLimit: 50 });
    const turn = turnRow('turn-1');
    link
      .last('chat:subscribe')
      .ok(snapshot(10, [messageRow(1)], { turns: [turn], presence: [{ userId: 'bob', typing: true }] }));
    expect(chat.view.getSnapshot()).toMatchObject({
      status: 'live',
      chat: chatRow(),
      messages: [messageRow(1)],
      position: position(10),
      running: turn,
      isBusy: true,
      presence: [{ userId: 'bob', typing: true }],
    });
  });

  it('SUB-3: keeps events that come before the answer, drops those it holds, applies the rest in order', async () => {
    const { chat, link } = await watched();
    const open = messageRow(1, { state: 'open', props: { content: 'ab' } });
    link.emit('events', events(9, [appended('message-1', 1, 'b'), appended('message-1', 2, 'c')]));
    link.emit('events', events(11, [appended('message-1', 3, 'd')]));
    expect(chat.view.getSnapshot().status).toBe('loading');
    link.last('chat:subscribe').ok(snapshot(10, [open]));
    expect(texts(chat)).toEqual(['abcd']);
    expect(chat.view.getSnapshot().position).toEqual(position(12));
  });

  it('notifies once for a batch, and only changed messages get new references', async () => {
    const { chat, link, told } = await live([messageRow(1), messageRow(2, { state: 'open', props: { content: '' } })]);
    const [first] = chat.view.getSnapshot().messages;
    link.emit(
      'events',
      events(10, [appended('message-2', 0, 'a'), appended('message-2', 1, 'b'), appended('message-2', 2, 'c')]),
    );
    expect(told).toHaveBeenCalledTimes(1);
    expect(chat.view.getSnapshot().messages[0]).toBe(first);
    expect(texts(chat)).toEqual(['text 1', 'abc']);
    const same = chat.view.getSnapshot();
    link.emit('events', events(10, [appended('message-2', 0, 'a')]));
    expect(chat.view.getSnapshot()).toBe(same);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('C03, C16, C37, C38: appends append and replacements replace, whatever they say', async () => {
    const { chat, link } = await live([]);
    const at = (sequence: number) => created(messageRow(sequence, { state: 'open', props: { content: '' } }));
    link.emit('events', events(10, [at(1), at(2)]));
    const parts = ['ha', 'ha', '\n', '\n', 'haha\n\n', '\u{1F600}', 'ha'];
    let length = 0;
    let offset = 12;
    for (const part of parts) {
      link.emit(
        'events',
        events(offset, [appended('message-1', length, part), appended('message-2', length, part.toUpperCase())]),
      );
      length += part.length;
      offset += 2;
    }
    expect(texts(chat)).toEqual([parts.join(''), parts.join('').toUpperCase()]);
    link.emit(
      'events',
      events(offset, [
        { type: 'message.replaced', messageId: 'message-1', messageType: 'text', props: { content: 'short' } },
        appended('message-1', 5, '!'),
      ]),
    );
    expect(texts(chat)[0]).toBe('short!');
  });

  it('SUB-4: a gap is asked for again from the position, once', async () => {
    const { chat, link } = await live([messageRow(1, { state: 'open', props: { content: '' } })]);
    link.emit('events', events(10, [appended('message-1', 0, 'a')]));
    link.emit('events', events(12, [appended('message-1', 2, 'c')]));
    link.emit('events', events(13, [appended('message-1', 3, 'd')]));
    expect(chat.view.getSnapshot().status).toBe('stale');
    expect(link.of('chat:subscribe').map(({ args }) => args['position'])).toEqual([undefined, position(11)]);
    link
      .last('chat:subscribe')
      .ok(replay(13, events(11, [appended('message-1', 1, 'b'), appended('message-1', 2, 'c')])));
    expect(texts(chat)).toEqual(['abcd']);
    expect(chat.view.getSnapshot().status).toBe('live');
  });

  it('SUB-4: another epoch is asked for again from the position', async () => {
    const { chat, link } = await live();
    link.emit('events', events(0, [created(messageRow(2))], 'e2'));
    expect(link.last('chat:subscribe').args['position']).toEqual(position(10));
    link.last('chat:subscribe').ok(snapshot(1, [messageRow(1), messageRow(2)], { position: position(1, 'e2') }));
    expect(texts(chat)).toEqual(['text 1', 'text 2']);
  });

  it('after an event that does not fit, asks without a position; when it repeats, with a wait', async () => {
    const { chat, link, clock } = await live([messageRow(1, { state: 'open', props: { content: '' } })]);
    link.emit('events', events(10, [appended('message-1', 7, 'x')]));
    expect(link.last('chat:subscribe').args).not.toHaveProperty('position');
    link.last('chat:subscribe').ok(snapshot(11, [messageRow(1, { state: 'open', props: { content: 'x' } })]));
    expect(texts(chat)).toEqual(['x']);
    link.emit('events', events(11, [appended('message-1', 7, 'x')]));
    expect(link.of('chat:subscribe')).toHaveLength(2);
    clock.advance(250);
    expect(link.of('chat:subscribe')).toHaveLength(3);
    link.last('chat:subscribe').ok(snapshot(12, [messageRow(1)]));
    clock.advance(10_000);
    link.emit('events', events(20, [appended('message-1', 7, 'x')]));
    expect(link.of('chat:subscribe')).toHaveLength(4);
  });

  it('C39: replayed events move the position on, and are not replayed again', async () => {
    const made = await live([]);
    for (let round = 0; round < 3; round++) {
      const link = await reconnect(made);
      expect(made.chat.view.getSnapshot().status).toBe('stale');
      const at = round === 0 ? 10 : 11;
      expect(link.last('chat:subscribe').args['position']).toEqual(position(at));
      link.last('chat:subscribe').ok(replay(11, round === 0 ? events(10, [created(messageRow(1))]) : []));
      expect(texts(made.chat)).toEqual(['text 1']);
    }
  });

  it('C17: reconnects within a turn and the turns after it lose nothing', async () => {
    const made = await live([messageRow(1, { state: 'open', props: { content: '' } })]);
    let offset = 10;
    for (let round = 0; round < 5; round++) {
      made.network.link.emit('events', events(offset, [appended('message-1', 2 * round, 'a')]));
      const link = await reconnect(made);
      link
        .last('chat:subscribe')
        .ok(replay(offset + 2, events(offset + 1, [appended('message-1', 2 * round + 1, 'b')])));
      offset += 2;
    }
    made.network.link.emit(
      'events',
      events(offset, [{ type: 'message.closed', messageId: 'message-1' }, created(messageRow(2))]),
    );
    expect(texts(made.chat)).toEqual(['ababababab', 'text 2']);
  });

  it('C58, C59: is busy as long as the server says so', async () => {
    const made = await live([]);
    made.link.emit('events', events(10, [{ type: 'turn.started', turn: turnRow('turn-1') }]));
    expect(made.chat.view.getSnapshot().isBusy).toBe(true);
    const link = await reconnect(made);
    const ended = turnRow('turn-1', { status: 'completed', endedAt: '2026-01-01T00:00:01.000Z' });
    link.last('chat:subscribe').ok(snapshot(90, [messageRow(1)], { turns: [ended] }));
    expect(made.chat.view.getSnapshot()).toMatchObject({ isBusy: false, running: null, messages: [messageRow(1)] });
    link.emit('events', events(90, [{ type: 'turn.started', turn: turnRow('turn-2', { background: true }) }]));
    expect(made.chat.view.getSnapshot().isBusy).toBe(false);
  });

  it('CMD-3: ends when the chat is deleted', async () => {
    const { chat, link } = await live();
    link.emit('events', events(10, [{ type: 'chat.deleted' }]));
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'ended', reason: 'deleted', messages: [] });
  });

  it.each(['forbidden', 'not_found'] as const)(
    'SUB-5: ends with %s, and asks again when somebody comes anew',
    async (code) => {
      const { chat, link, clock, unwatch } = await watched();
      link.last('chat:subscribe').refuse(code);
      expect(chat.view.getSnapshot()).toMatchObject({ status: 'ended', reason: code, error: { code } });
      unwatch();
      clock.advance(10_000);
      chat.open();
      link.last('chat:subscribe').ok(snapshot(10, [messageRow(1)]));
      expect(chat.view.getSnapshot().status).toBe('live');
    },
  );

  it('SUB-5: ends as revoked when the access ends, and keeps what it showed', async () => {
    const { chat, link, clock, unwatch } = await live();
    link.emit('presence', { chatId: CHAT, users: [{ userId: 'bob', typing: false }] });
    link.emit('unsubscribed', { chatId: 'chat-2' });
    expect(chat.view.getSnapshot().status).toBe('live');
    link.emit('unsubscribed', { chatId: CHAT });
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'ended', reason: 'revoked', error: null, presence: [] });
    expect(texts(chat)).toEqual(['text 1']);
    expect(link.of('chat:subscribe')).toHaveLength(1);
    unwatch();
    clock.advance(10_000);
    expect(link.of('chat:unsubscribe')).toHaveLength(0);
    link.emit('unsubscribed', { chatId: CHAT });
    chat.open();
    expect(link.last('chat:subscribe').args['position']).toEqual(position(10));
    link.last('chat:subscribe').ok(replay(11, events(10, [created(messageRow(2))])));
    expect(texts(chat)).toEqual(['text 1', 'text 2']);
  });

  it('SUB-5: while an answer is awaited, an end may be that of an earlier following: it is asked again', async () => {
    const { chat, link, clock } = await live();
    link.emit('events', events(12, [created(messageRow(3))]));
    link.emit('unsubscribed', { chatId: CHAT });
    link.last('chat:subscribe').ok(replay(11, events(10, [created(messageRow(2))])));
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'stale', position: position(10) });
    clock.advance(250);
    expect(link.of('chat:subscribe')).toHaveLength(3);
    link.last('chat:subscribe').refuse('not_found');
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'ended', reason: 'not_found' });
  });

  it('asks again later where the server cannot answer now', async () => {
    const { chat, link, clock } = await watched({ ackTimeoutMs: 1_000 });
    link.last('chat:subscribe').refuse('storage_unavailable', { retryAfterMs: 500 });
    expect(link.of('chat:subscribe')).toHaveLength(1);
    clock.advance(500);
    expect(link.of('chat:subscribe')).toHaveLength(2);
    clock.advance(1_125);
    expect(link.of('chat:subscribe')).toHaveLength(3);
    link.last('chat:subscribe').ok(snapshot(10, []));
    expect(chat.view.getSnapshot().status).toBe('live');
  });

  it('follows for the first who comes, and leaves after the last has gone for a while', async () => {
    const { chat, link, clock, unwatch } = await live();
    chat.open();
    unwatch();
    unwatch();
    clock.advance(60_000);
    expect(link.of('chat:unsubscribe')).toHaveLength(0);
    chat.close();
    chat.close();
    clock.advance(999);
    const again = chat.view.subscribe(() => undefined);
    clock.advance(60_000);
    expect(link.of('chat:subscribe')).toHaveLength(1);
    again();
    clock.advance(1_000);
    expect(link.last('chat:unsubscribe').args).toEqual({ chatId: CHAT });
    link.emit('events', events(10, [created(messageRow(2))]));
    expect(texts(chat)).toEqual(['text 1']);
    chat.open();
    expect(link.last('chat:subscribe').args['position']).toEqual(position(10));
  });

  it('is the same object for the same id, and another for another', async () => {
    const { client } = await connectedScene();
    expect(client.chat(CHAT)).toBe(client.chat(CHAT));
    expect(client.chat(CHAT)).not.toBe(client.chat('chat-2'));
    expect(() => client.chat('no id!')).toThrowError(expect.objectContaining({ code: 'bad_request' }));
  });

  it('SUB-8: shows presence, passes signals on, and says who is typing', async () => {
    const { chat, link } = await live();
    const heard: unknown[] = [];
    chat.signals((signal) => heard.push(signal));
    link.emit('presence', { chatId: CHAT, users: [{ userId: 'bob', typing: true }] });
    link.emit('signal', { chatId: CHAT, requestId: 'turn-1', name: 'progress', data: 7 });
    link.emit('signal', { chatId: 'chat-2', requestId: 'turn-1', name: 'progress', data: 8 });
    expect(chat.view.getSnapshot().presence).toEqual([{ userId: 'bob', typing: true }]);
    expect(heard).toEqual([{ chatId: CHAT, requestId: 'turn-1', name: 'progress', data: 7 }]);
    chat.setTyping(true);
    chat.setTyping(true);
    chat.setTyping(false);
    expect(link.of('typing').map(({ args }) => args['typing'])).toEqual([true, false]);
  });

  it('SUB-8: presence that is told before the answer is not undone by it', async () => {
    const made = await connectedScene();
    const chat = made.client.chat(CHAT);
    chat.open();
    const list = (typing: boolean) => [{ userId: 'bob', typing }];
    const present = () => chat.view.getSnapshot().presence;
    made.link.emit('presence', { chatId: CHAT, users: list(false) });
    made.link.last('chat:subscribe').ok(snapshot(10, [], { presence: list(true) }));
    expect(present()).toEqual(list(false));
    const link = await reconnect(made);
    link.last('chat:subscribe').ok(snapshot(10, [], { presence: list(true) }));
    expect(present(), 'what an earlier connection was told says nothing').toEqual(list(true));
  });

  it('takes frames of no known form for what they are: nothing', async () => {
    const { chat, link } = await live();
    const before = chat.view.getSnapshot();
    for (const body of [null, 7, [], [null], [{}], {}, [{ chatId: CHAT }], 'events']) {
      link.emit('events', body);
      link.emit('presence', body);
      link.emit('signal', body);
    }
    expect(chat.view.getSnapshot()).toBe(before);
    link.emit('events', [{ chatId: CHAT, epoch: 'e1', offset: 11, at: 'x', type: 'of the future', news: 1 }]);
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'live', position: position(11) });
  });

  it('a listener that throws disturbs neither the view nor the other listeners', async () => {
    const { chat, link } = await live();
    const uncaught = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
    const other = vi.fn();
    chat.view.subscribe(() => {
      throw new Error('of the page');
    });
    chat.view.subscribe(other);
    link.emit('events', events(10, [created(messageRow(2))]));
    expect(other).toHaveBeenCalledTimes(1);
    expect(uncaught).toHaveBeenCalledTimes(1);
    uncaught.mockRestore();
  });
});
