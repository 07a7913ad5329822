import { ChatError, type ChatCommands } from '../../../protocol/index.js';

/** What may pass is tried so often, and then ends the import: a later run goes on. */
const TRIES = 8;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

/** Commands that are given again, later and later, while the server is busy, away or about to go. */
export const patient = (chats: ChatCommands): ChatCommands => ({
  call: async (name, args) => {
    for (let tries = 1; ; tries++) {
      try {
        return await chats.call(name, args);
      } catch (error) {
        if (!mayPass(error) || tries >= TRIES) throw error;
        const waits = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
        await sleep(Math.max((error as ChatError).retryAfterMs ?? 0, waits));
      }
    }
  },
});

/** A server that cannot do it now; one who has as many chats as anybody may have still has them later. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ChatError &&
  error.retryable &&
  error.details['limit'] !== 'maxChatsPerUser' &&
  error.details['reason'] !== 'closed';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
