import { expect, test } from 'vitest';
import type { LoggedEvent } from '../../../server/ports/live-log.js';
import { Follower } from '../../../server/cluster/follower.js';
import { EventBatch, type Subscriber } from '../../../server/session/subscriber.js';

const chatId = 'chat';
const batchOf = (epoch: string, offset: number): EventBatch =>
  new EventBatch(chatId, [{ epoch, offset, type: 'turn.persisted', json: '{}' }]);

/** A connection that keeps what it is given. */
function connection() {
  const given: LoggedEvent[] = [];
  const subscriber: Subscriber = {
    identity: {
      ...{ userId: 'ann', teamId: null, tenantId: null, roles: ['user'] },
      ...{ assistants: null, expiresAt: null, token: null },
    },
    deliver: ({ events }) => void given.push(...events),
    signal: () => undefined,
    presence: () => undefined,
    ended: () => undefined,
  };
  return { subscriber, given: () => given.map(({ epoch, offset }) => `${epoch}:${offset}`) };
}

test('SUB-4: a connection that asks by itself while its chat moves takes the word that it missed something for no event', () => {
  const { subscriber, given } = connection();
  const follower = new Follower('follow', chatId, subscriber, () => undefined);
  follower.hasAnswer({ epoch: 'old', offset: 3 });
  follower.beginMove();
  // Its own answer stands before the event that comes now, the answer to the move behind that.
  follower.hasAnswer({ epoch: 'new', offset: 4 });
  follower.deliver(batchOf('new', 5));
  follower.hasMissed({}, { epoch: 'new', offset: 5 }, { epoch: 'nobody', at: '' });
  follower.deliver(batchOf('new', 6));
  expect(given()).toEqual(['nobody:1', 'new:6']);
});

test('SUB-3: what came while a move was under way is given once its connection follows by itself', () => {
  const { subscriber, given } = connection();
  const follower = new Follower('follow', chatId, subscriber, () => undefined);
  follower.beginMove();
  follower.hasAnswer({ epoch: 'new', offset: 4 });
  follower.deliver(batchOf('new', 4));
  follower.deliver(batchOf('new', 5));
  follower.endMove();
  follower.deliver(batchOf('new', 6));
  expect(given()).toEqual(['new:5', 'new:6']);
});
