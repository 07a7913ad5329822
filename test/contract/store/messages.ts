import { describe, expect, it } from 'vitest';
import { type Json, wellFormed } from '../../../protocol/index.js';
import type { MessageQuery, Store } from '../../../server/ports/store.js';
import { aMessage, aRecord, aTurn, anId, at, begun, sequences, stored, type StoreUnderTest } from './values.js';

export function messageContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;

  describe('messages', () => {
    it('seed 52: a message comes back as it was saved', async () => {
      const { chatId } = await stored(store());
      const message = aMessage(chatId, 1, {
        requestId: anId('request'),
        type: 'tool_call',
        props: { name: 'search', arguments: { q: ['a', { b: null }] }, n: 0.1, big: 1e21, yes: true, empty: {} },
        blockId: 'block-1',
        threadId: 'thread-1',
        stepId: 'step-1',
        assistantId: 'helper:v1',
        state: 'open',
        metadata: { role: 'tool' },
      });
      await store().saveMessages(chatId, [message]);
      expect(await store().getMessages(chatId, {})).toEqual([message]);
      expect(await store().getMessage(message.messageId)).toEqual(message);
    });

    it('seed 52: an empty list is a success, a chat that is not there is not_found', async () => {
      const { chatId } = await stored(store());
      await store().saveMessages(chatId, []);
      expect(await store().getMessages(chatId, {})).toEqual([]);
      const unknown = anId('chat');
      await expect(store().saveMessages(unknown, [aMessage(unknown, 1)])).rejects.toMatchObject({ code: 'not_found' });
    });

    it('seed 52, 54: order is by sequence, whatever the times and the requests say', async () => {
      const { chatId } = await stored(store());
      await store().saveMessages(chatId, [
        aMessage(chatId, 3, { createdAt: at(0), requestId: 'req-2' }),
        aMessage(chatId, 1, { createdAt: at(99), requestId: 'req-1' }),
        aMessage(chatId, 10, { createdAt: at(5), requestId: 'req-1' }),
        aMessage(chatId, 2, { createdAt: at(50), requestId: 'req-2' }),
      ]);
      expect(sequences(await store().getMessages(chatId, {}))).toEqual([1, 2, 3, 10]);
      expect(sequences(await store().getMessages(chatId, { requestId: 'req-1' }))).toEqual([1, 10]);
      expect(sequences(await store().getMessages(chatId, { requestId: 'req-2' }))).toEqual([2, 3]);
    });

    it.each<[MessageQuery, number[]]>([
      [{}, [1, 2, 3, 4, 5, 6, 7]],
      [{ role: 'user' }, [1, 4]],
      [{ type: 'loading' }, [3]],
      [{ blockId: 'b2' }, [5, 6]],
      [{ threadId: 't1' }, [6]],
      [{ requestId: 'r2' }, [4, 5, 6, 7]],
      [{ requestId: 'r2', role: 'assistant', blockId: 'b2' }, [5, 6]],
      [{ limit: 2 }, [6, 7]],
      [{ limit: 50 }, [1, 2, 3, 4, 5, 6, 7]],
      [{ offset: 3 }, [4, 5, 6, 7]],
      [{ limit: 2, offset: 1 }, [2, 3]],
      [{ limit: 2, offset: 6 }, [7]],
      [{ limit: 2, offset: 7 }, []],
      [{ before: 4 }, [1, 2, 3]],
      [{ before: 4, limit: 2 }, [2, 3]],
      [{ after: 4 }, [5, 6, 7]],
      [{ after: 4, limit: 2 }, [5, 6]],
      [{ after: 1, before: 5 }, [2, 3, 4]],
      [{ after: 1, before: 5, limit: 1 }, [2]],
      [{ after: 7 }, []],
      [{ role: 'assistant', limit: 2, before: 7 }, [5, 6]],
    ])('seed 53, 57: the query %o gives %o', async (query, expected) => {
      const { chatId } = await stored(store());
      await store().saveMessages(chatId, [
        aMessage(chatId, 1, { role: 'user', requestId: 'r1' }),
        aMessage(chatId, 2, { requestId: 'r1', blockId: 'b1' }),
        aMessage(chatId, 3, { requestId: 'r1', type: 'loading' }),
        aMessage(chatId, 4, { role: 'user', requestId: 'r2' }),
        aMessage(chatId, 5, { requestId: 'r2', blockId: 'b2' }),
        aMessage(chatId, 6, { requestId: 'r2', blockId: 'b2', threadId: 't1' }),
        aMessage(chatId, 7, { requestId: 'r2' }),
      ]);
      expect(sequences(await store().getMessages(chatId, query))).toEqual(expected);
    });

    it('seed 53: of an unknown chat there are none', async () => {
      expect(await store().getMessages(anId('chat'), { limit: 5 })).toEqual([]);
    });

    it('chats do not see each other', async () => {
      const [a, b] = [await stored(store()), await stored(store())];
      await store().saveMessages(a.chatId, [aMessage(a.chatId, 1, { requestId: 'same', blockId: 'same' })]);
      await store().saveMessages(b.chatId, [aMessage(b.chatId, 1, { requestId: 'same', blockId: 'same' })]);
      for (const query of [{}, { requestId: 'same' }, { blockId: 'same' }]) {
        expect(await store().getMessages(a.chatId, query)).toHaveLength(1);
      }
    });

    it('saving again changes the message of that id; the ids of others and taken sequences are refused, all or none', async () => {
      const { chatId } = await stored(store());
      const other = await stored(store());
      const message = aMessage(chatId, 1);
      const foreign = aMessage(other.chatId, 1);
      await store().saveMessages(chatId, [message]);
      await store().saveMessages(other.chatId, [foreign]);
      const again = { ...message, type: 'image', props: { url: 'x' }, metadata: { a: 1 }, updatedAt: at(9) };
      await store().saveMessages(chatId, [again, aMessage(chatId, 2)]);
      expect(await store().getMessages(chatId, { limit: 2 })).toMatchObject([again, { sequence: 2 }]);

      const stolen = { ...foreign, chatId, sequence: 4, props: { content: 'stolen' } };
      for (const bad of [stolen, aMessage(chatId, 2)]) {
        await expect(store().saveMessages(chatId, [aMessage(chatId, 3), bad])).rejects.toMatchObject({
          code: 'conflict',
        });
      }
      expect(sequences(await store().getMessages(chatId, {}))).toEqual([1, 2]);
      expect(await store().getMessage(foreign.messageId)).toEqual(foreign);
      expect(await store().nextSequence(chatId)).toBe(3);
    });

    it('seed 55: an update changes props, type or metadata', async () => {
      const { chatId } = await stored(store());
      const message = aMessage(chatId, 1, { metadata: { a: 1 } });
      await store().saveMessages(chatId, [message]);
      const { messageId } = message;
      const updated = await store().updateMessage(messageId, { type: 'image', props: { url: 'u' } }, at(7));
      expect(updated).toEqual({ ...message, type: 'image', props: { url: 'u' }, updatedAt: at(7) });
      expect(await store().getMessage(messageId)).toEqual(updated);
      expect((await store().updateMessage(messageId, { metadata: null }, at(8))).metadata).toBeNull();
      await expect(store().updateMessage(anId('message'), { type: 'x' }, at(9))).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    it('seed 56: deleting gives the ids that were there, in the order asked, and is final', async () => {
      const [{ chatId }, other] = [await stored(store()), await stored(store())];
      const messages = [1, 2, 3].map((sequence) => aMessage(chatId, sequence));
      const [one, two, three] = messages.map(({ messageId }) => messageId) as [string, string, string];
      const foreign = aMessage(other.chatId, 1);
      await store().saveMessages(chatId, messages);
      await store().saveMessages(other.chatId, [foreign]);

      expect(await store().deleteMessages(chatId, [], at(4))).toEqual([]);
      const asked = [three, anId('message'), foreign.messageId, one, three];
      expect(await store().deleteMessages(chatId, asked, at(4))).toEqual([three, one]);
      expect(await store().deleteMessages(chatId, [one], at(5))).toEqual([]);
      expect(await store().getMessage(one)).toBeNull();
      expect(await store().getMessage(foreign.messageId)).toEqual(foreign);
      await expect(store().updateMessage(one, { type: 'x' }, at(6))).rejects.toMatchObject({ code: 'not_found' });

      // Saved again it stays deleted, and its sequence stays taken.
      await store().saveMessages(chatId, messages);
      expect((await store().getMessages(chatId, {})).map(({ messageId }) => messageId)).toEqual([two]);
      await expect(store().saveMessages(chatId, [aMessage(chatId, 1)])).rejects.toMatchObject({ code: 'conflict' });
    });

    it('deletes a list of 40,000 ids', async () => {
      const { chatId } = await stored(store());
      const message = aMessage(chatId, 1);
      await store().saveMessages(chatId, [message]);
      const ids = Array.from({ length: 40_000 }, (_, n) => `nobody-${n}`);
      expect(await store().deleteMessages(chatId, [...ids, message.messageId], at(1))).toEqual([message.messageId]);
    });

    it('DAT-1, C26: text and JSON come back as they went in', async () => {
      const { chatId } = await stored(store());
      const texts = [
        'línea\r\n\ttab \\ "quoted" \'single\' %_?$1 -- ; \u2028\u2029\u0001\u007f',
        'e\u0301 is not é; 👩‍👩‍👧‍👦 🇺🇦 𝕏 \u{10FFFF} \uFFFD \uFEFF',
        wellFormed('lone \ud83c and \udf0d and \0'),
        ' ',
        '',
      ];
      let deep: Json = 'bottom';
      for (let level = 0; level < 60; level++) deep = level % 2 ? [deep] : { deep };
      const props = {
        texts,
        deep,
        numbers: [0, -1, 0.1, 1e21, 1e-7, 9007199254740991, 1.7976931348623157e308, 5e-324],
        null: null,
        '': 'empty key',
        'ключ "\\\n': { 'a.b': [[], {}] },
        $type: 'Json',
        toJSON: 'a word',
        long: 'х'.repeat(100_000),
      };
      const messages = texts.map((text, index) =>
        aMessage(chatId, index + 1, { props: { ...props, content: text }, metadata: { text } }),
      );
      await store().saveMessages(chatId, messages);
      expect(await store().getMessages(chatId, {})).toEqual(messages);
      for (const message of messages) expect(await store().getMessage(message.messageId)).toEqual(message);
      const { messageId } = messages[0]!;
      expect((await store().updateMessage(messageId, { props, metadata: props }, at(1))).props).toEqual(props);
      expect((await store().getMessage(messageId))?.metadata).toEqual(props);
      for (const title of texts) expect((await store().updateChat(chatId, { title }, at(1))).title).toBe(title);
    });

    it('reads a chat of 1,500 messages whole, and from both ends', async () => {
      const { chatId } = await stored(store());
      await store().saveMessages(
        chatId,
        Array.from({ length: 1500 }, (_, n) => aMessage(chatId, 2 * n + 1)),
      );
      const all = sequences(await store().getMessages(chatId, {}));
      expect(all).toEqual(Array.from({ length: 1500 }, (_, n) => 2 * n + 1));
      expect(sequences(await store().getMessages(chatId, { limit: 900 }))).toEqual(all.slice(-900));
      expect(sequences(await store().getMessages(chatId, { limit: 900, before: 2001 }))).toEqual(all.slice(100, 1000));
      expect(sequences(await store().getMessages(chatId, { limit: 900, offset: 100 }))).toEqual(all.slice(100, 1000));
      expect(sequences(await store().getMessages(chatId, { after: 1 }))).toEqual(all.slice(1));
    });

    it('a message of a turn is found by its turn', async () => {
      const record = await begun(store());
      const { chatId, requestId } = record.turn;
      expect(sequences(await store().getMessages(chatId, { requestId }))).toEqual([1]);
      expect(await store().getMessages(chatId, { requestId: aRecord(aTurn(chatId)).turn.requestId })).toEqual([]);
    });
  });
}
