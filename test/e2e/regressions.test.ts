import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { openFileJournal } from '../../server/adapters/file-journal.js';
import { createMemoryLog } from '../../server/adapters/memory-log.js';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import { systemClock } from '../../server/clock.js';
import { readConfig } from '../../server/config.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import { createMetrics } from '../../server/metrics.js';
import type { TurnWrite } from '../../server/ports/store.js';
import { createEnvironment } from '../../server/session/create-environment.js';
import { Deferred } from '../../server/session/deferred.js';
import { createDesk } from '../../server/session/desk/desk.js';
import type { Identity } from '../../server/session/identity.js';
import { Revocations } from '../../server/session/revocations.js';
import { Sessions } from '../../server/session/sessions.js';
import type { Subscriber } from '../../server/session/subscriber.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { temporaryDirectory } from '../harness/server.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** What the fuzz (test/fuzz) has found, each in its shortest form. */

describe('regressions', () => {
  test('LIF-2: a start after a crash waits for a database that another process holds', async () => {
    const server = await new ServerProcess({ COMMIT_RETRY_MS: '300' }).start();
    const agent = await new Agent(server.url, ['bot']).join();
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'bot' });
    const view = await person.follow(chatId);
    const { turn } = await person.start(chatId, 'go');
    await (await agent.run(turn.requestId)).send('seen');
    await until(() => view.text(turn.requestId) === 'seen', 'the text');
    await server.kill();
    const lock = await storeBeside(server.dataDir).lock();
    const starting = server.start();
    setTimeout(() => void lock.release(), 700);
    await starting;
    const history = await expectConsistent(server.url, chatId);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'seen']);
  });

  test('SUB-1: a snapshot taken while write 2 waits shows the turn as it is before its turn.ended', async () => {
    const here = await scene({ env: { COMMIT_RETRY_MS: '20000' } });
    const run = await here.turn();
    await run.send('text');
    const lock = await storeBeside(here.server.dataDir).lock();
    const closing = run.close();
    await until(() => here.view.messages.at(-1)?.state === 'closed', 'the message closed');
    const late = await new Person(here.url).open();
    const view = await late.follow(here.chatId);
    expect(view.view?.turns.get(run.requestId)).toEqual(here.view.view?.turns.get(run.requestId));
    expect(view.view?.turns.get(run.requestId)?.status).toBe('running');
    await lock.release();
    await closing;
    expect((await late.ended(here.chatId, run.requestId)).turn.status).toBe('completed');
  });

  test('SUB-1, TRN-2: an input that is stored and not yet told of is seen by nobody', async () => {
    const { desk, chatId, holdWrites } = await deskOverSlowStore();
    const release = holdWrites();
    const starting = desk.run(
      'turn:start',
      ANN,
      { chatId, input: [text('go')], onBusy: 'enqueue', createChat: false },
      {},
    );
    await until(() => release.isStored, 'write 1');
    const heard: string[] = [];
    const subscriber: Subscriber = {
      identity: ANN,
      deliver: ({ events }) => heard.push(...events.map(({ type }) => type)),
      signal: () => undefined,
      presence: () => undefined,
      ended: () => undefined,
    };
    const { result } = await desk.subscribe(ANN, { chatId, messageLimit: 50 }, subscriber);
    expect(result).toMatchObject({ mode: 'snapshot', messages: [], turns: [] });
    expect((await desk.run('message:list', ANN, { chatId, limit: 50 }, {})).messages).toEqual([]);
    expect((await desk.run('message:list', ANN, { chatId, limit: 50, offset: 0 }, {})).messages).toEqual([]);
    expect((await desk.run('turn:list', ANN, { chatId, limit: 50 }, {})).turns).toEqual([]);
    release.now();
    await starting;
    await until(() => heard.length >= 2, 'the events');
    expect(heard.slice(0, 2)).toEqual(['turn.queued', 'message.created']);
    expect((await desk.run('message:list', ANN, { chatId, limit: 50 }, {})).messages).toHaveLength(1);
  });

  test('message:list: a page at an offset is not short where messages were deleted while it was read beside a running turn', async () => {
    const { desk, chatId, holdReads, isRunning } = await deskOverSlowStore();
    const input = Array.from({ length: 20 }, () => ({ ...text('kept'), role: 'user' as const }));
    const { messages } = await desk.run('message:save', ANN, { chatId, messages: input }, {});
    await desk.run('turn:start', ANN, { chatId, input: [text('go')], onBusy: 'enqueue', createChat: false }, {});
    await until(isRunning, 'the turn');
    const held = holdReads();
    const listing = desk.run('message:list', ANN, { chatId, limit: 3, offset: 5 }, {});
    await until(() => held.isRead, 'the rows');
    const messageIds = messages.slice(0, 2).map(({ messageId }) => messageId);
    await desk.run('message:delete', ANN, { chatId, messageIds }, {});
    held.now();
    const page = await listing;
    expect([page.messages.map(({ sequence }) => sequence), page.hasMore]).toEqual([[8, 9, 10], true]);
  });
});

const ANN: Identity = {
  userId: 'ann',
  teamId: null,
  tenantId: null,
  roles: ['user'],
  assistants: null,
  expiresAt: null,
  token: null,
};
const text = (content: string) => ({ type: 'text', props: { content } });

/** The domain over a real database whose transactions and readings can be held between what they do and their answer. */
async function deskOverSlowStore() {
  const directory = temporaryDirectory();
  const log = createLog('silent');
  const store = await openPrismaStore({ url: `file:${join(directory, 'db')}`, clock: systemClock, ids: systemIds });
  let held: Deferred<void> | null = null;
  const release = { isStored: false, now: () => held?.resolve() };
  let reading: Deferred<void> | null = null;
  const read = { isRead: false, now: () => reading?.resolve() };
  const slow = new Proxy(store, {
    get: (target, name) => {
      if (name === 'write') {
        return async (batch: readonly TurnWrite[]) => {
          await target.write(batch);
          release.isStored = true;
          await held?.promise;
        };
      }
      if (name === 'getMessages') {
        return async (...asked: Parameters<typeof store.getMessages>) => {
          const messages = await target.getMessages(...asked);
          read.isRead = reading !== null;
          await reading?.promise;
          return messages;
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
  const journal = openFileJournal({ directory: join(directory, 'journal'), clock: systemClock, log, fsyncMs: 100 });
  let isRunning = false;
  const endless = defineAssistant({
    assistantId: 'endless',
    run: ({ abortSignal }) => {
      isRunning = true;
      return new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve(undefined)));
    },
  });
  const { env } = createEnvironment({
    clock: systemClock,
    ids: systemIds,
    log,
    metrics: createMetrics(),
    store: slow,
    journal,
    liveLog: createMemoryLog({ ids: systemIds }),
    assistants: [endless],
    settings: readConfig({ DATA_DIR: directory }),
  });
  const sessions = new Sessions(env);
  onTestFinished(async () => {
    sessions.close();
    await journal.close();
    await store.close();
  });
  const desk = createDesk(env, sessions, await Revocations.load(store, systemClock));
  const { chat } = await desk.run('chat:create', ANN, { assistantId: 'endless' }, {});
  const holdWrites = () => {
    held = new Deferred<void>();
    return release;
  };
  const holdReads = () => {
    reading = new Deferred<void>();
    return read;
  };
  return { desk, chatId: chat.chatId, holdWrites, holdReads, isRunning: () => isRunning };
}
