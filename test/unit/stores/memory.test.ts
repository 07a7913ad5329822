import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  inTurn,
  keepingSystem,
  lastMessages,
  selected,
  summarised,
  whole,
  withinTokens,
  type MemoryPolicy,
  type Reading,
} from '../../../stores/memory/index.js';

interface Said {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly text: string;
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
}

const reading: Reading<Said> = {
  role: ({ role }) => role,
  calls: ({ calls = [] }) => calls,
  results: ({ results = [] }) => results,
};
const user = (text: string): Said => ({ role: 'user', text });
const answer = (text: string, ...calls: string[]): Said => ({ role: 'assistant', text, calls });
const result = (...results: string[]): Said => ({ role: 'tool', text: '', results });
const system: Said = { role: 'system', text: 'be brief' };
const texts = (messages: readonly Said[]) => messages.map(({ text }) => text);

/** The rule as it is said: leave out what lacks its half, until nothing does. */
function wholeByTheRule(talk: readonly Said[]): Said[] {
  const isSystem = ({ role }: Said) => role === 'system';
  const question = talk.findIndex(({ role }) => role === 'user');
  const fitting = talk.filter((said, index) => {
    const isAsked = (id: string) => talk.slice(0, index).some((before) => reading.calls(before).includes(id));
    const isGiven = (id: string) => talk.slice(index + 1).some((behind) => reading.results(behind).includes(id));
    const isBehindQuestion = question !== -1 && index >= question;
    return (
      isSystem(said) || (isBehindQuestion && reading.results(said).every(isAsked) && reading.calls(said).every(isGiven))
    );
  });
  return fitting.length === talk.length ? fitting : wholeByTheRule(fitting);
}

const TALK = [system, user('q1'), answer('a1'), user('q2'), answer('a2'), user('q3'), answer('a3')];

describe('memory policies', () => {
  test('the last k begin with a question', async () => {
    expect(texts(await lastMessages(2, reading)(TALK))).toEqual(['q3', 'a3']);
    expect(texts(await lastMessages(3, reading)(TALK))).toEqual(['q3', 'a3']);
    expect(await lastMessages(0, reading)(TALK)).toEqual([]);
    expect(texts(await lastMessages(100, reading)(TALK))).toEqual(texts(TALK));
  });

  test('a budget of tokens is never passed, and a message that is too large ends the choice', async () => {
    const count = ({ text }: Said) => text.length;
    expect(texts(await withinTokens(8, count, reading)(TALK))).toEqual(['q2', 'a2', 'q3', 'a3']);
    expect(texts(await withinTokens(7, async (said) => count(said), reading)(TALK))).toEqual(['q3', 'a3']);
    const large = [user('q1'), answer('x'.repeat(50)), user('q2')];
    expect(texts(await withinTokens(10, count, reading)(large))).toEqual(['q2']);
  });

  test('what instructs stays in front, whatever else is cut', async () => {
    const policy = keepingSystem(lastMessages(2, reading), reading);
    expect(texts(await policy(TALK))).toEqual(['be brief', 'q3', 'a3']);
    expect(texts(await policy([user('q'), system, answer('a')]))).toEqual(['be brief', 'q', 'a']);
  });

  test('a summary stands for what is older; its failure is thrown on', async () => {
    const asked: string[][] = [];
    const options = {
      keep: 2,
      summarise: async (older: readonly Said[]) => {
        asked.push(texts(older));
        return 'they talked';
      },
      messageOf: (text: string): Said => ({ role: 'system', text }),
    };
    expect(texts(await summarised(options, reading)(TALK.slice(1)))).toEqual(['they talked', 'q3', 'a3']);
    expect(asked).toEqual([['q1', 'a1', 'q2', 'a2']]);
    expect(texts(await summarised({ ...options, keep: 6 }, reading)(TALK.slice(1)))).toHaveLength(6);
    expect(asked).toHaveLength(1);
    const broken = summarised({ ...options, summarise: () => Promise.reject(new Error('no model')) }, reading);
    await expect(broken(TALK)).rejects.toThrow('no model');
  });

  test('a selector chooses; what is not of the conversation cannot be chosen, and policies follow each other', async () => {
    const short = selected<Said>(
      (messages) => [...messages.filter(({ text }) => text !== 'a2'), user('forged')],
      reading,
    );
    expect(texts(await short(TALK))).toEqual(['be brief', 'q1', 'a1', 'q2', 'q3', 'a3']);
    expect(texts(await inTurn(short, lastMessages(3, reading))(TALK))).toEqual(['q2', 'q3', 'a3']);
  });

  test('a call goes with its results, and a result with its call', () => {
    const talk = [user('q'), answer('', 'c1', 'c2'), result('c1'), result('c2'), answer('a')];
    expect(whole(talk, reading)).toEqual(talk);
    expect(texts(whole(talk.slice(0, 3), reading))).toEqual(['q']);
    expect(texts(whole([user('q'), ...talk.slice(2)], reading))).toEqual(['q', 'a']);
  });

  test('what is whole is what is left when halves are left out again and again', () => {
    const id = fc.constantFrom('1', '2', '3', '4', '5');
    const role = fc.constantFrom('user', 'assistant', 'system', 'tool');
    const message = fc.record({
      ...{ role, text: fc.constant('') },
      ...{ calls: fc.array(id, { maxLength: 2 }), results: fc.array(id, { maxLength: 2 }) },
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 14 }), (talk: Said[]) => {
        expect(whole(talk, reading)).toEqual(wholeByTheRule(talk));
      }),
      { numRuns: 2000 },
    );
  });

  test('a row of calls, each of which waits for the next, falls apart at once', () => {
    const row = Array.from({ length: 50_000 }, (_, index): Said => ({
      ...{ role: 'assistant', text: '' },
      ...{ results: index === 0 ? [] : [`${index}`], calls: [`${index + 1}`] },
    }));
    expect(whole([user('q'), ...row], reading)).toEqual([user('q')]);
    expect(whole([user('q'), ...row, result('50000')], reading)).toHaveLength(50_002);
    expect(whole([user('q'), ...row.slice(1), result('50000')], reading)).toEqual([user('q')]);
  });

  test.each([-1, 1.5, NaN, Infinity])('a count of %s is refused', (count) => {
    expect(() => lastMessages(count)).toThrow(RangeError);
    expect(() => withinTokens(count, () => 1)).toThrow(RangeError);
  });

  test('whatever is cut: a question first, no half of a call, nothing new, the order kept', async () => {
    const message = fc.oneof(
      fc.constant(system),
      fc.string({ maxLength: 5 }).map(user),
      fc
        .tuple(fc.string({ maxLength: 5 }), fc.subarray(['1', '2', '3']))
        .map(([text, calls]) => answer(text, ...calls)),
      fc.subarray(['1', '2', '3'], { minLength: 1 }).map((ids) => result(...ids)),
    );
    const policies: MemoryPolicy<Said>[] = [
      lastMessages(3, reading),
      withinTokens(9, ({ text }) => text.length + 1, reading),
      keepingSystem(lastMessages(2, reading), reading),
      selected((all) => all.filter((_, index) => index % 2 === 0), reading),
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 12 }), async (made) => {
        const talk = made.map((one) => ({ ...one }));
        for (const policy of policies) {
          const chosen = await policy(talk);
          const spoken = chosen.filter(({ role }) => role !== 'system');
          expect(spoken[0]?.role ?? 'user').toBe('user');
          const places = spoken.map((one) => talk.indexOf(one));
          expect(places).toEqual([...places].sort((a, b) => a - b));
          expect(places).not.toContain(-1);
          const calls = spoken.flatMap(({ calls: ids = [] }) => ids);
          for (const [index, { results = [] }] of spoken.entries())
            for (const id of results)
              expect(spoken.slice(0, index).flatMap(({ calls: ids = [] }) => ids)).toContain(id);
          for (const id of calls) expect(spoken.flatMap(({ results = [] }) => results)).toContain(id);
        }
      }),
    );
  });
});
