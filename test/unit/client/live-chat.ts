import { vi } from 'vitest';
import type { Chat, ChatClientOptions } from '../../../client/index.js';
import type { Message } from '../../../protocol/index.js';
import { connectedScene, type Scene } from './connected.js';
import type { FakeLink } from './fake-transport.js';
import { CHAT, messageRow, snapshot } from './rows.js';

export interface Watched extends Scene {
  readonly link: FakeLink;
  readonly chat: Chat;
  readonly told: ReturnType<typeof vi.fn>;
  readonly unwatch: () => void;
}

/** A chat that is followed, before the server has answered. */
export async function watched(options: ChatClientOptions = {}): Promise<Watched> {
  const made = await connectedScene(options);
  const chat = made.client.chat(CHAT);
  const told = vi.fn();
  const unwatch = chat.view.subscribe(told);
  return { ...made, chat, told, unwatch };
}

/** The same, live with these messages at offset 10. */
export async function live(messages: readonly Message[] = [messageRow(1)], hasMore = false): Promise<Watched> {
  const made = await watched();
  made.link.last('chat:subscribe').ok(snapshot(10, messages, { hasMore }));
  made.told.mockClear();
  return made;
}
