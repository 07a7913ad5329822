import { expect, test } from 'vitest';
import { ChatError, type ChatCommands } from '../../../protocol/index.js';
import { SessionChats } from '../../../stores/agent-squad/session-chats.js';

/** The title with which the chat of a new session is created. */
async function titleOf(sessionId: string): Promise<unknown> {
  const created: unknown[] = [];
  const call = async (name: string, args: { title?: string }): Promise<unknown> => {
    if (name === 'chat:create') created.push(args.title);
    else if (created.length === 0) throw new ChatError('not_found');
    return { messages: [], hasMore: false };
  };
  await new SessionChats({ call } as unknown as ChatCommands, {}).save({ userId: 'u', sessionId }, async () => []);
  expect(created).toHaveLength(1);
  return created[0];
}

test('a title that is too long is cut between characters', async () => {
  expect(await titleOf('x'.repeat(501))).toBe('x'.repeat(500));
  expect(await titleOf(`${'x'.repeat(499)}😀`)).toBe('x'.repeat(499));
  expect(await titleOf(`${'x'.repeat(498)}😀y`)).toBe(`${'x'.repeat(498)}😀`);
});

test('DAT-1: half a character that ends the name of a session is replaced, not left out', async () => {
  expect(await titleOf('a\ud800')).toBe('a\ufffd');
});
