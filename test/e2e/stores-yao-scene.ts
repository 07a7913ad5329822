import { expect } from 'vitest';
import { createYaoStore, YaoStoreError, type ChatStore, type YaoStoreOptions } from '../../stores/yao/index.js';
import { startServer, type TestServer } from '../harness/server.js';
import { commandsOn, type As, type Host } from './stores-hosts.js';

/** A server, and the store of a person on it. */
export async function yaoOn(
  host: Host,
  options: YaoStoreOptions = {},
): Promise<{ server: TestServer; store: ChatStore; storeOf: (as: As) => ChatStore }> {
  const server = await startServer();
  const storeOf = (as: As): ChatStore => createYaoStore(commandsOn(host, server, as), options).chats;
  return { server, store: storeOf({ userId: 'user1' }), storeOf };
}

/** That it is refused as this room refuses: with its own error, of this code and these words. */
export async function expectRefused(work: Promise<unknown>, code: string, words: string | RegExp): Promise<void> {
  const error = await work.then(
    () => 'it was not refused',
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(YaoStoreError);
  expect(error).toMatchObject({ name: 'YaoStoreError', code });
  expect((error as YaoStoreError).message).toMatch(words);
}
