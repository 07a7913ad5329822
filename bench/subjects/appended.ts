/** The body that the bare servers send: what a Turnstream event says, field by field and byte by byte nearly as long. */

const EPOCH = 'e-bare-server-epoch';
const MESSAGE_ID = '01936a5e-0000-7000-8000-000000000000';
const REQUEST_ID = '01936a5e-0000-7000-8000-000000000001';

const lengths = new Map<string, { offset: number; from: number }>();

export function appended(chatId: string, text: string) {
  const place = lengths.get(chatId) ?? { offset: 0, from: 0 };
  lengths.set(chatId, place);
  const { from } = place;
  place.from += text.length;
  return {
    chatId,
    epoch: EPOCH,
    offset: ++place.offset,
    at: new Date().toISOString(),
    type: 'message.appended',
    messageId: MESSAGE_ID,
    path: 'content',
    from,
    text,
    requestId: REQUEST_ID,
  };
}
