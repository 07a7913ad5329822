import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { lockStore } from '../harness/lock.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
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
    const lock = lockStore(server.dataDir);
    const starting = server.start();
    setTimeout(() => lock.release(), 700);
    await starting;
    const history = await expectConsistent(server.url, chatId);
    expect(history.map(({ props }) => props['content'])).toEqual(['go', 'seen']);
  });

  test('SUB-1: a snapshot taken while write 2 waits shows the turn as it is before its turn.ended', async () => {
    const here = await scene({ env: { COMMIT_RETRY_MS: '20000' } });
    const run = await here.turn();
    await run.send('text');
    const lock = lockStore(here.server.dataDir);
    const closing = run.close();
    await until(() => here.view.messages.at(-1)?.state === 'closed', 'the message closed');
    const late = await new Person(here.url).open();
    const view = await late.follow(here.chatId);
    expect(view.view?.turns.get(run.requestId)).toEqual(here.view.view?.turns.get(run.requestId));
    expect(view.view?.turns.get(run.requestId)?.status).toBe('running');
    lock.release();
    await closing;
    expect((await late.ended(here.chatId, run.requestId)).turn.status).toBe('completed');
  });
});
