import { expect, onTestFinished, test } from 'vitest';
import { attemptKey } from '../../server/ports/journal.js';
import { systemClock } from '../../server/clock.js';
import { storeLateEdits } from '../../server/session/recover-attempt.js';
import { openSqliteStore } from './sqlite-file.js';
import { aMessage, aRecord, aTurn, anEnd, at, begun } from './store/values.js';

test('LIF-2: of what is recovered, nothing is deleted but messages of the attempt’s own turn', async () => {
  const under = await openSqliteStore();
  onTestFinished(() => under.close());
  const { store } = under;
  const earlier = await begun(store);
  const { chatId } = earlier.turn;
  const theirs = aMessage(chatId, 11, { requestId: earlier.turn.requestId });
  await store.write([anEnd(earlier, { messages: [theirs], lastSequence: 11, at: at(1) })]);
  const record = aRecord(aTurn(chatId));
  const { requestId } = record.turn;
  await store.write([{ kind: 'begin', record, messages: [], newChat: null, at: at(2) }]);
  const [kept, doomed] = [12, 13].map((sequence) => aMessage(chatId, sequence, { requestId }));
  await store.write([anEnd(record, { messages: [kept!, doomed!], lastSequence: 13, at: at(4) })]);

  // It had sent one under an id that was theirs, and taken it back; and a person deleted another while the end was written.
  const deleted = [theirs, doomed!].map(({ messageId }) => ({ type: 'message.deleted', messageIds: [messageId] }));
  const entries = [['begin', record], ...deleted.map((event) => ['event', event])].map((entry) =>
    JSON.stringify(entry),
  );
  await storeLateEdits({ store, clock: systemClock }, { attempt: attemptKey(requestId, 1), entries });
  const left = (await store.getMessages(chatId, { role: 'assistant' })).map(({ messageId }) => messageId);
  expect(left).toEqual([theirs.messageId, kept!.messageId]);
});
