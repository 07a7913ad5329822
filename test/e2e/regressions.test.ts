import { describe, expect, test } from 'vitest';
import { lockStore } from '../harness/lock.js';
import { Person } from '../harness/person.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

/** What the fuzz (test/fuzz) has found, each in its shortest form. */

describe('regressions', () => {
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
