import { expect, test } from 'vitest';
import { Delays, TURN_STRIDE, TurnsHeard } from '../../../bench/load/turns-heard.js';
import { dueToken, microsNow, numberToken } from '../../../bench/token.js';

const PER_SECOND = 1000;

/** A follower that has heard these texts, a frame each, of two turns of three tokens. */
function heard(...texts: readonly string[]) {
  const delays = new Delays();
  const follower = new TurnsHeard(PER_SECOND, delays);
  for (const text of texts) {
    const frame = Buffer.from(`2["events",[{"type":"message.delta","text":"${text}"}]]`);
    follower.take(frame, 0, frame.length);
  }
  const { late, torn, twice } = follower.faults;
  return { lost: follower.lost([3, 3]), late, torn, twice, tokens: follower.tokens, delays };
}

const first = numberToken(0);
const [second, third] = [numberToken(1), numberToken(2)];
const next = numberToken(TURN_STRIDE) + numberToken(TURN_STRIDE + 1) + numberToken(TURN_STRIDE + 2);
const NO_FAULTS = { lost: 0, late: 0, torn: 0, twice: 0 };

test('what came once and in order has no faults, however it was joined', () => {
  expect(heard(first, second + third, next)).toMatchObject({ ...NO_FAULTS, tokens: 6 });
});

test('a token that did not come is lost, in the middle, at the end, and with its whole turn', () => {
  expect(heard(first + third, next)).toMatchObject({ ...NO_FAULTS, lost: 1 });
  expect(heard(first + second, next)).toMatchObject({ ...NO_FAULTS, lost: 1 });
  expect(heard(first + second + third)).toMatchObject({ ...NO_FAULTS, lost: 3 });
});

test('a token that came again is double, at once or a turn later, and counts once', () => {
  expect(heard(first, first, second + third, next)).toMatchObject({ ...NO_FAULTS, twice: 1, tokens: 6 });
  expect(heard(first, second + third, next, third)).toMatchObject({ ...NO_FAULTS, twice: 1, tokens: 6 });
});

test('a token behind a later one is out of order, and not lost', () => {
  expect(heard(first, third, second, next)).toMatchObject({ ...NO_FAULTS, late: 1 });
});

test('text that is no token is torn', () => {
  expect(heard(first, second + third, next, 'no token')).toMatchObject({ ...NO_FAULTS, torn: 1 });
});

test('a delay counts from the moment that a token was due', () => {
  const began = microsNow() - 100_000;
  const { delays } = heard(dueToken(began).replace(' ', '#') + first, second, third);
  expect(delays.count).toBe(3);
  expect(delays.quantile(0)).toBeGreaterThanOrEqual(97);
  expect(delays.quantile(1)).toBeLessThan(10_000);
});

test('quantiles of delays that two processes have measured are those of all', () => {
  const delays = new Delays().take([[1, 50]]).take([
    [2, 40],
    [700, 10],
  ]);
  expect([0.5, 0.9, 0.99, 1].map((q) => delays.quantile(q))).toEqual([1, 2, 700, 700]);
});
