import { describe, expect, it } from 'vitest';
import type { PresentUser } from '../../../protocol/index.js';
import { PresenceBoard } from '../../../server/session/presence-board.js';
import type { Subscriber } from '../../../server/session/subscriber.js';
import { manualClock } from '../../contract/manual-clock.js';

const follower = (userId: string) => ({ identity: { userId } }) as Subscriber;
const anna = follower('anna');

/** Anna and ben follow, and everybody knows. */
function scene() {
  const clock = manualClock();
  const told: PresentUser[][] = [];
  const board = new PresenceBoard(clock, (users) => told.push(users));
  for (const user of [anna, follower('ben')]) board.join(user);
  clock.advance(1000);
  return { board, told: () => told.splice(0), settle: () => clock.advance(1000) };
}
const list = (annaTypes: boolean): PresentUser[] => [
  { userId: 'anna', typing: annaTypes },
  { userId: 'ben', typing: false },
];

describe('SUB-8: presence', () => {
  it('what changes and changes back before it is told is not told', () => {
    const { board, told, settle } = scene();
    expect(told()).toEqual([list(false)]);
    board.type(anna, anna.identity);
    board.stopTyping(anna);
    board.join(follower('ben'));
    expect(board.handOut()).toEqual(list(false));
    settle();
    expect(told()).toEqual([]);
  });

  it('but where it was handed out meanwhile it is told', () => {
    const { board, told, settle } = scene();
    told();
    board.type(anna, anna.identity);
    board.join(follower('ben'));
    expect(board.handOut()).toEqual(list(true));
    board.stopTyping(anna);
    settle();
    expect(told()).toEqual([list(false)]);
    board.join(follower('ben'));
    settle();
    expect(told(), 'once').toEqual([]);
  });
});
