import { describe, expect, it, vi } from 'vitest';
import { MAX_PUSHES_IN_FLIGHT, type OpInput } from '../../../protocol/index.js';
import { settle } from './fake-clock.js';
import type { FakeLink } from './fake-transport.js';
import { append, fate, frame, line } from './frame-line.js';
import { BAD, ModelFrame } from './model-frame.js';

const send: OpInput = { op: 'send', messageId: 'message-of-16-chars', type: 'text', props: { content: '' } };
const inSent = (text: string): OpInput => append(text, 'message-of-16-chars');

const textsOf = (link: FakeLink): unknown[] =>
  link.of('turn:push').map(({ args }) => [args['seq'], (args['ops'] as { text: string }[]).map(({ text }) => text)]);

describe('the sink of a frame', () => {
  it('gathers what is pushed in one tick, then what is pushed within a few milliseconds', async () => {
    const { sink, link, clock } = line();
    void sink.push([append('a')]);
    void sink.push([append('b')]);
    await settle();
    void sink.push([append('c')]);
    clock.advance(4);
    void sink.push([append('d')]);
    clock.advance(1);
    expect(textsOf(link)).toEqual([
      [1, ['a', 'b']],
      [2, ['c', 'd']],
    ]);
    expect(link.sent[0]?.args).toMatchObject(frame);
  });

  it('what somebody waits for goes at once, with what has gathered', async () => {
    const { sink, link } = line();
    void sink.push([append('a')]);
    await settle();
    void sink.push([append('b')]);
    void sink.push([send]);
    await settle();
    expect(link.of('turn:push').map(({ args }) => (args['ops'] as unknown[]).length)).toEqual([1, 2]);
  });

  it('AGT-6: keeps at most 32 pushes under way', async () => {
    const { sink, link, clock } = line();
    for (let count = 0; count < 100; count++) {
      void sink.push([append(String(count))]);
      await settle();
      clock.advance(5);
    }
    expect(link.sent).toHaveLength(MAX_PUSHES_IN_FLIGHT);
    link.sent[0]?.ok({ seq: 1 });
    expect(link.sent).toHaveLength(MAX_PUSHES_IN_FLIGHT + 1);
    expect((link.sent.at(-1)?.args['ops'] as unknown[]).length).toBe(68);
  });

  it('a push resolves when its ops were applied', async () => {
    const { sink, link } = line();
    const told = vi.fn();
    void sink.push([append('a')]).then(told);
    await settle();
    expect(told).not.toHaveBeenCalled();
    link.last('turn:push').ok({ seq: 1 });
    await settle();
    expect(told).toHaveBeenCalled();
  });

  it('text for a message sent here does not wait for the line, as long as there is room', async () => {
    const { sink, link, clock } = line({ maxBufferedOps: 3 });
    void sink.push([send]);
    await sink.push([inSent('a')]);
    await sink.push([inSent('b')]);
    const told = vi.fn();
    void sink.push([inSent('c')]).then(told);
    await settle();
    clock.advance(5);
    expect(told).not.toHaveBeenCalled();
    link.sent[0]?.ok({ seq: 1 });
    await settle();
    expect(told).toHaveBeenCalled();
  });

  it('waits by bytes as well', async () => {
    const { sink, link, clock } = line({ maxBufferedBytes: 1_000 });
    void sink.push([send]);
    const told = vi.fn();
    void sink.push([inSent('x'.repeat(2_000))]).then(told);
    await settle();
    clock.advance(5);
    expect(told).not.toHaveBeenCalled();
    for (const sent of link.sent) sent.ok({});
    await settle();
    expect(told).toHaveBeenCalled();
  });

  it('DAT-3: splits by the size of frames, and refuses what alone is too large', async () => {
    const { sink, link } = line({}, { maxFrameBytes: 4_096 });
    void sink.push([append('a'.repeat(2_000))]);
    void sink.push([append('b'.repeat(2_000))]);
    void sink.push([append('c')]);
    const large = fate(sink.push([append('d'.repeat(4_000))]));
    expect(await large).toBe('payload_too_large');
    await settle();
    expect(link.of('turn:push').map(({ args }) => (args['ops'] as unknown[]).length)).toEqual([1, 2]);
  });

  it('refuses locally what is no op, with its index, and sends nothing', async () => {
    const { sink, link } = line();
    const push = sink.push([append('a'), { op: 'nope' } as unknown as OpInput]);
    await expect(push).rejects.toMatchObject({ code: 'bad_request', details: { index: 1 } });
    await expect(sink.push([{ ...send, props: { at: new Date(0) } }])).rejects.toMatchObject({
      code: 'bad_request',
    });
    await settle();
    expect(link.sent).toEqual([]);
  });

  it.each([true, false])(
    'AGT-2: of a refused batch only the guilty caller fails (index named: %s)',
    async (namesIndex) => {
      const { sink, link, clock } = line();
      const model = new ModelFrame();
      model.namesIndex = namesIndex;
      const fates = [sink.push([append('a')]), sink.push([append('b'), append(BAD)]), sink.push([append('c')])].map(
        fate,
      );
      await settle();
      fates.push(fate(sink.push([append('d')])));
      clock.advance(5);
      for (let at = 0; at < link.sent.length; at++) model.serve(link.sent[at]!);
      expect(await Promise.all(fates)).toEqual(['applied', 'bad_request', 'applied', 'applied']);
      expect(model.applied).toEqual(['a', 'c', 'd']);
    },
  );

  it('AGT-2: a refusal names the index within the caller’s own push', async () => {
    const { sink, link } = line();
    void sink.push([append('a'), append('b')]);
    const guilty = sink.push([append('c'), append(BAD)]);
    await settle();
    link.last('turn:push').refuse('bad_request', { details: { index: 3 } });
    await expect(guilty).rejects.toMatchObject({ details: { index: 1 } });
  });

  it('a limit met by text that did not wait is told by the next push', async () => {
    const { sink, link } = line();
    const opened = sink.push([send]);
    await settle();
    link.last('turn:push').ok({ seq: 1 });
    await opened;
    await sink.push([inSent('a')]);
    const settled = sink.settled();
    link.last('turn:push').refuse('payload_too_large', { details: { limit: 'maxMessageBytes', index: 0 } });
    await settled;
    expect(sink.lateError).toMatchObject({ code: 'payload_too_large' });
    await expect(sink.push([append('b')])).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(sink.lateError).toBeNull();
  });

  it('AGT-4: after a loss goes on behind what the server has', async () => {
    const made = line();
    const fates = ['a', 'b', 'c'].map((text) => fate(sinkPush(text)));
    async function sinkPush(text: string): Promise<void> {
      return made.sink.push([append(text)]);
    }
    await settle();
    const more = fate(made.sink.push([append('d')]));
    made.clock.advance(5);
    made.sink.detach();
    const link = made.relink();
    made.sink.attach(1);
    expect(textsOf(link)).toEqual([[2, ['d']]]);
    expect(await Promise.all(fates)).toEqual(['applied', 'applied', 'applied']);
    link.last('turn:push').ok({ seq: 2 });
    expect(await more).toBe('applied');
  });

  it('AGT-4: is settled when the server had everything before the loss', async () => {
    const { sink, relink } = line();
    void sink.push([append('a')]);
    const settled = vi.fn();
    void sink.settled().then(settled);
    sink.detach();
    relink();
    sink.attach(1);
    await settle();
    expect(settled).toHaveBeenCalled();
  });

  it('AGT-1: goes on from where the server says that the gap is', async () => {
    const { sink, link, clock } = line();
    const fates = [fate(sink.push([append('a')]))];
    await settle();
    fates.push(fate(sink.push([append('b')])));
    clock.advance(5);
    link.sent[1]?.refuse('seq_gap', { details: { expected: 1 } });
    expect(textsOf(link)).toEqual([
      [1, ['a']],
      [2, ['b']],
      [1, ['a']],
      [2, ['b']],
    ]);
    link.sent[2]?.ok({ seq: 1 });
    link.sent[3]?.ok({ seq: 2 });
    expect(await Promise.all(fates)).toEqual(['applied', 'applied']);
  });

  it('AGT-1: gives the frame up where the server and the sink do not agree', async () => {
    const { sink, ended, relink } = line();
    const push = fate(sink.push([append('a')]));
    await settle();
    sink.detach();
    relink();
    sink.attach(7);
    expect(await push).toBe('conflict');
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it.each(['turn_ended', 'stale_attempt', 'not_found', 'forbidden'] as const)(
    'AGT-3: %s ends the frame',
    async (code) => {
      const { sink, link, ended, clock } = line();
      const first = fate(sink.push([append('a')]));
      await settle();
      const second = fate(sink.push([append('b')]));
      link.last('turn:push').refuse(code);
      expect(await Promise.all([first, second])).toEqual([code, code]);
      expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code }));
      const third = fate(sink.push([append('c')]));
      clock.advance(0);
      expect(await third).toBe(code);
      expect(link.sent).toHaveLength(1);
    },
  );

  it('sends again what the server cannot take now, by the same seqs, after a wait', async () => {
    const { sink, link, clock } = line();
    const push = fate(sink.push([append('a')]));
    await settle();
    link.last('turn:push').refuse('storage_unavailable', { retryAfterMs: 400 });
    clock.advance(400);
    expect(link.sent).toHaveLength(1);
    clock.advance(125);
    expect(textsOf(link)).toEqual([
      [1, ['a']],
      [1, ['a']],
    ]);
    link.last('turn:push').ok({ seq: 1 });
    expect(await push).toBe('applied');
  });

  it('C52: sends again what was not answered', async () => {
    const { sink, link, clock } = line({ ackTimeoutMs: 1_000 });
    const push = fate(sink.push([append('a')]));
    await settle();
    clock.advance(1_000);
    expect(textsOf(link)).toEqual([
      [1, ['a']],
      [1, ['a']],
    ]);
    link.last('turn:push').ok({ seq: 1 });
    expect(await push).toBe('applied');
    expect(clock.pending).toBe(0);
  });

  it('gives a numbered command its place, and its answer also after a loss', async () => {
    const { sink, relink } = line();
    const before = fate(sink.push([append('a')]));
    const answer = sink.call('turn:delegate', { assistantId: 'b' }, null);
    const after = fate(sink.push([append('b')]));
    await settle();
    sink.detach();
    const link = relink();
    sink.attach(3);
    expect(link.sent.map(({ command, args }) => [command, args['seq']])).toEqual([['turn:delegate', 2]]);
    link.last('turn:delegate').ok({ status: 'completed' });
    expect(await answer).toEqual({ status: 'completed' });
    expect(await Promise.all([before, after])).toEqual(['applied', 'applied']);
  });
});
