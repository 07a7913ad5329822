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
  const others: string[] = [];
  const subscriber: Subscriber = {
    identity: {
      ...{ userId: 'ann', teamId: null, tenantId: null, roles: ['user'] },
      ...{ assistants: null, expiresAt: null, token: null },
    },
    deliver: ({ events }) => void given.push(...events),
    signal: ({ name }) => void others.push(name),
    presence: ({ users }) => void others.push(`${users.length} present`),
    ended: (reason) => void others.push(reason),
  };
  return { subscriber, others, given: () => given.map(({ epoch, offset }) => `${epoch}:${offset}`) };
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
  follower.hasAnswer({ epoch: 'old', offset: 3 });
  follower.beginMove();
  follower.hasAnswer({ epoch: 'new', offset: 4 });
  follower.deliver(batchOf('new', 4));
  follower.deliver(batchOf('new', 5));
  follower.endMove();
  follower.deliver(batchOf('new', 6));
  expect(given()).toEqual(['new:5', 'new:6']);
});

/** What a node hands to all who ask for the chat, whether they have their answer or not. */
function handAll(follower: Follower, offset: number): void {
  follower.deliver(batchOf('epoch', offset));
  follower.signal({ chatId, requestId: 'turn', name: `signal ${offset}`, data: null });
  follower.presence({ chatId, users: [{ userId: 'bob', typing: true }] });
}

test('ACC-1: who has asked and is refused has heard nothing of what others were told meanwhile', () => {
  const { subscriber, given, others } = connection();
  const follower = new Follower('follow', chatId, subscriber, () => undefined);
  follower.askAt('owner');
  handAll(follower, 1);
  follower.isOver = true;
  handAll(follower, 2);
  expect([given(), others]).toEqual([[], []]);
});

test('SUB-3: what comes before the answer is given behind it, as far as the answer does not hold it', () => {
  const { subscriber, given, others } = connection();
  const follower = new Follower('follow', chatId, subscriber, () => undefined);
  follower.askAt('another owner');
  handAll(follower, 7);
  follower.askAt('owner');
  handAll(follower, 1);
  handAll(follower, 2);
  follower.ended('deleted');
  expect([given(), others]).toEqual([[], []]);
  follower.hasAnswer({ epoch: 'epoch', offset: 1 });
  expect(given()).toEqual(['epoch:2']);
  expect(others).toEqual(['signal 1', '1 present', 'signal 2', '1 present', 'deleted']);
});
