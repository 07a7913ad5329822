import { describe, expect, it } from 'vitest';
import type { ChatError } from '../../../protocol/index.js';
import { settle } from './fake-clock.js';
import { live, watched } from './live-chat.js';
import { CHAT, created, events, messageRow, snapshot, turnRow } from './rows.js';

describe('inputs on their way', () => {
  const accepted = (requestId: string, duplicate = false) => ({ turn: turnRow(requestId), messages: [], duplicate });
  const own = (sequence: number, requestId: string) =>
    messageRow(sequence, { role: 'user', requestId, assistantId: null });

  it('TRN-2: stand in pending at once, until their message is there', async () => {
    const { chat, link } = await live([]);
    const start = chat.start('hello', { requestId: 'turn-9', onBusy: 'reject' });
    expect(link.last('turn:start').args).toMatchObject({ requestId: 'turn-9', onBusy: 'reject' });
    expect(chat.view.getSnapshot().pending).toEqual([
      { requestId: 'turn-9', messages: [{ type: 'text', props: { content: 'hello' } }], error: null },
    ]);
    link.last('turn:start').ok(accepted('turn-9'));
    await start;
    expect(chat.view.getSnapshot().pending).toHaveLength(1);
    link.emit('events', events(10, [created(own(1, 'turn-9'))]));
    expect(chat.view.getSnapshot()).toMatchObject({ pending: [], messages: [{ sequence: 1 }] });
  });

  it('leave pending also when their message comes before the answer, and when they were known long ago', async () => {
    const { chat, link } = await live([]);
    const start = chat.start('hello', { requestId: 'turn-9' });
    link.emit('events', events(10, [created(own(1, 'turn-9'))]));
    expect(chat.view.getSnapshot().pending).toEqual([]);
    link.last('turn:start').ok(accepted('turn-9'));
    await start;
    const again = chat.start('hello', { requestId: 'turn-1' });
    expect(chat.view.getSnapshot().pending).toHaveLength(1);
    link.last('turn:start').ok(accepted('turn-1', true));
    await again;
    expect(chat.view.getSnapshot().pending).toEqual([]);
  });

  it('leave pending also when their message was deleted before it could be seen', async () => {
    const { chat, link } = await live([]);
    void chat.start('hello', { requestId: 'turn-9' }).catch(() => undefined);
    const gone = own(1, 'turn-9');
    link.emit(
      'events',
      events(10, [
        { type: 'turn.queued', turn: turnRow('turn-9', { status: 'queued' }) },
        created(gone),
        { type: 'message.deleted', messageIds: [gone.messageId] },
      ]),
    );
    expect(chat.view.getSnapshot().pending).toHaveLength(1);
    link.emit('events', events(13, [{ type: 'turn.started', turn: turnRow('turn-9') }]));
    expect(chat.view.getSnapshot().pending).toEqual([]);
  });

  it('C20: a refused one stays with its reason, until it is sent again or dismissed', async () => {
    const { chat, link } = await live([]);
    const refusal = chat
      .start('hello', { requestId: 'turn-9', onBusy: 'reject' })
      .catch((error: ChatError) => error.code);
    link.last('turn:start').refuse('turn_busy', { details: { activeRequestId: 'turn-1' } });
    expect(await refusal).toBe('turn_busy');
    expect(chat.view.getSnapshot().pending).toMatchObject([
      { requestId: 'turn-9', error: { code: 'turn_busy', details: { activeRequestId: 'turn-1' } } },
    ]);
    const retry = chat.retry('turn-9');
    expect(chat.view.getSnapshot().pending).toMatchObject([{ requestId: 'turn-9', error: null }]);
    expect(link.of('turn:start')[1]?.args).toEqual(link.of('turn:start')[0]?.args);
    link.last('turn:start').ok(accepted('turn-9'));
    await retry;
    void chat.start('too much', { requestId: 'turn-10' }).catch(() => undefined);
    link.last('turn:start').refuse('queue_full');
    await settle();
    chat.dismiss('turn-10');
    expect(chat.view.getSnapshot().pending.map(({ requestId }) => requestId)).toEqual(['turn-9']);
    await expect(chat.retry('turn-10')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('C20, C10: one that is too large stays with its reason, and nothing was sent', async () => {
    const { chat, link } = await live([]);
    await expect(chat.start('x'.repeat(2_000_000))).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(chat.view.getSnapshot().pending).toMatchObject([{ error: { code: 'payload_too_large' } }]);
    expect(link.of('turn:start')).toEqual([]);
  });

  it('C06, C52: one given up as unanswered goes when it turns out to have arrived', async () => {
    const { chat, link, clock } = await live([]);
    const refusal = chat
      .start('hello', { requestId: 'turn-9', timeoutMs: 100 })
      .catch((error: ChatError) => error.details);
    clock.advance(100);
    expect(await refusal).toMatchObject({ reason: 'no_answer' });
    link.emit('events', events(10, [created(own(1, 'turn-9'))]));
    expect(chat.view.getSnapshot().pending).toEqual([]);
  });

  it('a chat that is about to be created is not missing', async () => {
    const { chat, link } = await watched();
    const start = chat.start('hello', { requestId: 'turn-9', assistantId: 'echo', createChat: true });
    link.last('chat:subscribe').refuse('not_found');
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'loading', reason: null });
    link.last('turn:start').ok(accepted('turn-9'));
    await start;
    expect(link.of('chat:subscribe')).toHaveLength(2);
    link.last('chat:subscribe').ok(snapshot(3, [own(1, 'turn-9')], { turns: [turnRow('turn-9')] }));
    expect(chat.view.getSnapshot()).toMatchObject({ status: 'live', pending: [], isBusy: true });
  });

  it('C41, C59: stop and resume name the turn that the view shows', async () => {
    const { chat, link } = await live([]);
    link.emit('events', events(10, [{ type: 'turn.started', turn: turnRow('turn-2') }]));
    void chat.stop().catch(() => undefined);
    expect(link.last('turn:stop').args).toEqual({ chatId: CHAT, requestId: 'turn-2' });
    const interrupted = turnRow('turn-2', { status: 'interrupted', stopReason: 'stopped', attempt: 2 });
    link.emit(
      'events',
      events(11, [
        created(messageRow(1, { requestId: 'turn-2' })),
        { type: 'turn.ended', turn: interrupted, persisted: true },
      ]),
    );
    void chat.resume().catch(() => undefined);
    expect(link.last('turn:resume').args).toEqual({ chatId: CHAT, requestId: 'turn-2', attempt: 3 });
    void chat.start('next', { requestId: 'turn-3' }).catch(() => undefined);
    void chat.stop().catch(() => undefined);
    expect(link.last('turn:stop').args).toEqual({ chatId: CHAT, requestId: 'turn-3' });
  });

  it('TRN-11: regenerates without words, and shows it until the turn is there', async () => {
    const { chat, link } = await live([]);
    void chat.regenerate('turn-1', { requestId: 'turn-2' });
    expect(link.last('turn:start').args).toMatchObject({ regenerate: 'turn-1', requestId: 'turn-2' });
    expect(chat.view.getSnapshot().pending).toEqual([{ requestId: 'turn-2', messages: [], error: null }]);
    link.emit('events', events(10, [{ type: 'turn.started', turn: turnRow('turn-2') }]));
    expect(chat.view.getSnapshot().pending).toEqual([]);
  });
});
