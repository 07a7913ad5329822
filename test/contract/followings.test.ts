import { expect, it, onTestFinished } from 'vitest';
import { ChatError, type SubscribeResult } from '../../protocol/index.js';
import { openRedisBus } from '../../server/adapters/redis/bus.js';
import { systemClock } from '../../server/clock.js';
import { Calls } from '../../server/cluster/calls.js';
import { linesOf } from '../../server/cluster/event-lines.js';
import { Followings } from '../../server/cluster/followings.js';
import { systemIds } from '../../server/id-source.js';
import { createLog } from '../../server/log.js';
import type { Identity } from '../../server/session/identity.js';
import { EventBatch, type Subscriber } from '../../server/session/subscriber.js';
import { describeWithRedisServer, startRedis } from '../harness/redis-server.js';
import { until } from '../harness/until.js';
import { chatRow } from '../unit/client/rows.js';

const chatId = 'chat';
const ANN: Identity = {
  ...{ userId: 'ann', teamId: null, tenantId: null, roles: ['user'] },
  ...{ assistants: null, expiresAt: null, token: null },
};

/** Two nodes: what one answers who asks to follow, and the followings of the other. */
async function twoNodes() {
  const { url } = await startRedis();
  const log = createLog('silent');
  const callsOf = async (nodeId: string): Promise<Calls> => {
    const bus = await openRedisBus({ url, nodeId, clock: systemClock, ids: systemIds, log });
    onTestFinished(() => bus.close());
    return new Calls(bus, log);
  };
  const [owner, calls] = [await callsOf('owner'), await callsOf('door')];
  const followings = new Followings({
    ...{ calls, nodeId: 'door', clock: systemClock, ids: systemIds, whenSafe: () => null },
    routes: { run: ({ at }) => at('owner') },
    local: { subscribe: () => Promise.reject(new ChatError('not_found')) },
  });
  const say = (offset: number): void =>
    owner.raw(
      'door',
      linesOf(new EventBatch(chatId, [{ epoch: 'epoch', offset, type: 'turn.persisted', json: '{}' }])),
    );
  return { owner, followings, say };
}

function connection() {
  const heard: number[] = [];
  const subscriber: Subscriber = {
    identity: ANN,
    deliver: ({ events }) => void heard.push(...events.map(({ offset }) => offset)),
    signal: () => undefined,
    presence: () => undefined,
    ended: () => undefined,
  };
  return { subscriber, heard };
}

const answerAt = (offset: number): SubscribeResult => ({
  ...{ chat: chatRow(), position: { epoch: 'epoch', offset }, mode: 'replay', events: [], presence: [] },
});

describeWithRedisServer('following a chat that another node owns', () => {
  it('SUB-5: a second subscribe that fails leaves the first one as it is', async () => {
    const { owner, followings, say } = await twoNodes();
    const { subscriber, heard } = connection();
    let asked = 0;
    owner.serve('follow', async () => {
      asked++;
      if (asked === 2) throw new ChatError('storage_unavailable');
      return answerAt(1);
    });
    const args = { chatId, messageLimit: 50 };
    await followings.follow(ANN, args, subscriber);
    say(2);
    await until(() => heard.length === 1, 'the first event');
    await expect(followings.follow(ANN, args, subscriber)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await until(() => asked === 3, 'it is followed on');
    say(3);
    await until(() => heard.length === 2, 'the event after it');
    expect(heard).toEqual([2, 3]);
  });

  it('ACC-1: whoever is refused hears nothing of what those hear who follow the chat at the same node', async () => {
    const { owner, followings, say } = await twoNodes();
    const [ann, mallory] = [connection(), connection()];
    owner.serve<{ identity: { userId: string } }>('follow', async (_from, { identity }) => {
      if (identity.userId === 'ann') return answerAt(1);
      say(2);
      throw new ChatError('not_found');
    });
    const args = { chatId, messageLimit: 50 };
    await followings.follow(ANN, args, ann.subscriber);
    const refused = followings.follow({ ...ANN, userId: 'mallory' }, args, mallory.subscriber);
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    expect(ann.heard).toEqual([2]);
    expect(mallory.heard).toEqual([]);
  });
});
