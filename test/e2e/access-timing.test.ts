import { describe, expect, test } from 'vitest';
import type { CommandName, OpInput } from '../../protocol/index.js';
import { EVENTS_PATH } from '../../server/wire/http/server-sent-events.js';
import type { Agent, Run } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import type { Person } from '../harness/person.js';
import { askByPath } from './access-asking.js';
import { furnish, nowhere, openPerson, scene, tokenOf, type Caller, type Place } from './access-callers.js';
import { bearerOf, responseTo } from './request-as.js';

/** `not_found` is told at full multiples of this many milliseconds after the question (server/wire/dispatch.ts). */
const STEP_MS = 10;
const STEPS_IN_ONE_PUSH = 100;
/** Many answers of 10 ms and more, one after another. */
const TIMEOUT_MS = 120_000;

/** How often a value of the first is above one of the second: 0.5 where nothing tells them apart, 0 and 1 where all does. */
function ranking(first: readonly number[], second: readonly number[]): number {
  const wins = first.flatMap((one) => second.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

type Ask = (place: Place) => Promise<unknown>;

/**
 * How long each kind of place takes to be refused. They are asked in turn, so that whatever else the machine does falls on
 * all alike.
 */
async function timesOf(ask: Ask, places: Readonly<Record<string, Place>>, rounds = 60) {
  const times = Object.fromEntries(Object.keys(places).map((name) => [name, [] as number[]]));
  // The first ones find nothing warm.
  for (const place of Object.values(places)) await ask(place);
  const inOrder = Object.entries(places);
  for (let round = 0; round < rounds; round++, inOrder.push(...inOrder.splice(0, 1)))
    for (const [name, place] of inOrder) {
      const began = performance.now();
      await ask(place);
      times[name]?.push(performance.now() - began);
    }
  return times;
}

async function fill(run: Run, steps: number): Promise<void> {
  for (let done = 0; done < steps; done += STEPS_IN_ONE_PUSH) {
    const stepIds = Array.from({ length: STEPS_IN_ONE_PUSH }, () => uid('s'));
    const ops = stepIds.flatMap((stepId): OpInput[] => [
      { op: 'step.start', stepId, type: 'llm', input: 'x'.repeat(300) },
      { op: 'step.end', stepId, status: 'completed' },
    ]);
    await run.push(...ops);
  }
}

/**
 * What tells a place from one that is not there: an answer before its time (load makes answers later, and never sooner),
 * or times that rank before or after those of the unknown. By chance they rank beyond the bounds less than once in a
 * million runs; under load they mix the better.
 */
function telltales(what: string, times: Readonly<Record<string, readonly number[]>>): string[] {
  const { unknown = [] } = times;
  return Object.entries(times).flatMap(([name, some]) => {
    const soonest = Math.min(...some);
    const rank = ranking(some, unknown);
    return [
      ...(soonest < STEP_MS ? [`${what}: ${name} within ${soonest.toFixed(2)} ms`] : []),
      ...(rank < 0.2 || rank > 0.8 ? [`${what}: ${name} ranks ${rank.toFixed(2)} against unknown`] : []),
    ];
  });
}

/** A chat whose turn has so many steps, and runs on. */
async function laden(owner: Person, agent: Agent, steps: number) {
  const chatId = await owner.createChat({ assistantId: 'bot' });
  await owner.follow(chatId);
  const { turn } = await owner.start(chatId, 'go');
  const run = await agent.run(turn.requestId);
  await fill(run, steps);
  const messageId = await run.send('x');
  const place: Place = { ...nowhere(), chatId, requestId: turn.requestId, messageId, stackId: run.stackId };
  return { place, run };
}

/** Asks by each door for what the caller does not find. */
async function doorsOf(url: string, caller: Caller) {
  const stranger = await openPerson(url, caller);
  const token = await tokenOf(caller);
  const bySocket =
    (name: CommandName, args: (place: Place) => object): Ask =>
    async (place) =>
      expect(await stranger.refused(name, args(place))).toMatchObject({ code: 'not_found' });
  const byRequest =
    (name: CommandName, args: (place: Place) => Record<string, unknown>): Ask =>
    async (place) => {
      const response = await responseTo(url, bearerOf(token), name, args(place));
      expect(response.status).toBe(404);
      await response.text();
    };
  const byEvents: Ask = async ({ chatId }) =>
    expect(await askByPath(url, token, EVENTS_PATH, { chatId })).toMatchObject({ outcome: 'not_found' });
  return { bySocket, byRequest, byEvents };
}

describe('CMD-1: unreadable answers in the time that unknown does', () => {
  test(
    'CMD-1: in memory, in the store alone or under load, nothing tells it from what is not there',
    { timeout: TIMEOUT_MS },
    async () => {
      const before = await scene();
      const stored = await furnish(before.owner, before.agent, 'private');
      await before.server.close();
      const { url, owner, agent } = await scene({ DATA_DIR: before.server.dataDir });
      const { place: loaded } = await laden(owner, agent, 500);
      const inMemory = await furnish(owner, agent, 'private');
      const places = { stored, inMemory, loaded, unknown: nowhere() };
      const { bySocket, byRequest } = await doorsOf(url, 'other tenant');
      const asks: Record<string, Ask> = {
        'turn:start': bySocket('turn:start', ({ chatId }) => ({ chatId, input: 'x' })),
        'turn:get': bySocket('turn:get', ({ requestId }) => ({ requestId })),
        'message:list': bySocket('message:list', ({ chatId }) => ({ chatId })),
        'message:update': bySocket('message:update', ({ messageId }) => ({ messageId, metadata: {} })),
        'step:stack': byRequest('step:stack', ({ stackId }) => ({ stackId })),
      };
      const found: string[] = [];
      for (const [name, ask] of Object.entries(asks)) found.push(...telltales(name, await timesOf(ask, places)));
      expect(found).toEqual([]);
    },
  );

  test.each<Caller>(['same tenant', 'other tenant'])(
    'CMD-1: what is deleted, not shared or not there is told no sooner than at the first step, by each door (%s)',
    { timeout: TIMEOUT_MS },
    async (caller) => {
      const { url, owner, agent } = await scene();
      const places = {
        deleted: await furnish(owner, agent, 'deleted'),
        unreadable: await furnish(owner, agent, 'private'),
        unknown: nowhere(),
      };
      const { bySocket, byRequest, byEvents } = await doorsOf(url, caller);
      const asks: Record<string, Ask> = {
        'chat:subscribe': bySocket('chat:subscribe', ({ chatId }) => ({ chatId })),
        'turn:stop': bySocket('turn:stop', ({ requestId }) => ({ requestId })),
        typing: bySocket('typing', ({ chatId }) => ({ chatId, typing: true })),
        'chat:get': byRequest('chat:get', ({ chatId }) => ({ chatId })),
        'message:update': byRequest('message:update', ({ messageId }) => ({ messageId, metadata: {} })),
        events: byEvents,
      };
      for (const [name, ask] of Object.entries(asks))
        for (const [what, times] of Object.entries(await timesOf(ask, places, 5)))
          expect.soft(Math.min(...times), `${name}: ${what}`).toBeGreaterThanOrEqual(STEP_MS);
    },
  );

  test(
    'CMD-1: however much a turn holds, its stack answers those who may not see it as one that is not there',
    { timeout: TIMEOUT_MS },
    async () => {
      const { url, owner, agent } = await scene();
      const { place: stored, run } = await laden(owner, agent, 1000);
      await run.close();
      await owner.ended(stored.chatId, stored.requestId);
      const headers = bearerOf(await tokenOf('other tenant'));
      const found: string[] = [];
      for (const name of ['step:stack', 'step:path'] as const) {
        const ask: Ask = async ({ stackId }) => {
          const response = await responseTo(url, headers, name, { stackId });
          expect(response.status).toBe(404);
          await response.text();
        };
        found.push(...telltales(`${name} of 1000 steps`, await timesOf(ask, { stored, unknown: nowhere() })));
      }
      expect(found).toEqual([]);
    },
  );
});
