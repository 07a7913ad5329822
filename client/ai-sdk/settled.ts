import type { Chat } from '../chat.js';
import type { ChatSnapshot } from '../chat-snapshot.js';

/** The chat once it is known how it stands: live, or ended. @throws the reason of the abort */
export function settled(chat: Chat, signal: AbortSignal | undefined): Promise<ChatSnapshot> {
  return new Promise((resolve, reject) => {
    let leave = (): void => undefined;
    const end = (): void => {
      leave();
      signal?.removeEventListener('abort', aborted);
    };
    const aborted = (): void => {
      end();
      reject(signal?.reason as Error);
    };
    const look = (): void => {
      const snapshot = chat.view.getSnapshot();
      if (snapshot.status !== 'live' && snapshot.status !== 'ended') return;
      end();
      resolve(snapshot);
    };
    if (signal?.aborted) return aborted();
    signal?.addEventListener('abort', aborted);
    leave = chat.view.subscribe(look);
    look();
  });
}
