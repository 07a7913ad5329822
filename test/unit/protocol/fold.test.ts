import { describe, expect, test } from 'vitest';
import { foldChat, type ChatView, type Message } from '../../../protocol/index.js';
import { AT, CHAT, chatRow, messageRow } from '../client/rows.js';

const view = (hasMore: boolean, ...messages: Message[]): ChatView => ({
  chat: chatRow(),
  position: { epoch: 'e1', offset: 0 },
  ...{ messages, hasMore, turns: new Map(), steps: new Map(), deleted: false },
});
const created = (before: ChatView, message: Message): readonly Message[] =>
  foldChat(before, { chatId: CHAT, epoch: 'e1', offset: 1, at: AT, type: 'message.created', message }).messages;

describe('DAT-4: a message that was created', () => {
  const [one, two, three] = [messageRow(1), messageRow(2), messageRow(3)];

  test('stands at its sequence, also where it is told of late', () => {
    expect(created(view(false), one)).toEqual([one]);
    expect(created(view(false, one, two), three)).toEqual([one, two, three]);
    expect(created(view(false, one, three), two)).toEqual([one, two, three]);
    expect(created(view(false, two, three), one)).toEqual([one, two, three]);
  });

  test('is not held where all that is as old is not', () => {
    expect(created(view(true, two, three), one)).toEqual([two, three]);
    expect(created(view(true), one)).toEqual([one]);
  });

  test('takes the place of the one that is held under its id', () => {
    const again = { ...three, messageId: one.messageId };
    expect(created(view(false, one, two), again)).toEqual([two, again]);
  });
});
