import { expect, test } from 'vitest';
import { historyOf, wholeTurn } from '../../../protocol/ai-sdk/index.js';
import type { ChatCommands } from '../../../protocol/index.js';
import { messageRow } from '../client/rows.js';

/** A chat in which a program has saved one message of a megabyte after the other, all under one requestId. */
function crammed(): { commands: ChatCommands; read: () => number } {
  let sequence = 0;
  const content = 'x'.repeat(1024 * 1024);
  const commands: ChatCommands = {
    call: (name) => {
      if (name !== 'message:list') return Promise.resolve({ turns: [], hasMore: false } as never);
      const message = messageRow(++sequence, { requestId: 'r', role: 'assistant', type: 'text', props: { content } });
      return Promise.resolve({ messages: [message], hasMore: true, position: { epoch: 'e', offset: 1 } } as never);
    },
  };
  return { commands, read: () => sequence };
}

test('of a turn no more is read than a turn may hold', async () => {
  const { commands, read } = crammed();
  const refused = { code: 'payload_too_large', details: { limit: 'maxTurnBytes', requestId: 'r' } };
  await expect(wholeTurn(commands, { chatId: 'c', requestId: 'r' })).rejects.toMatchObject(refused);
  await expect(historyOf(commands, { chatId: 'c', limit: 1 }, 7)).rejects.toMatchObject(refused);
  expect(read()).toBeLessThan(100);
});
