import { describe, expect, test } from 'vitest';
import { FollowedAnswer, isTerminator, UI_MAJORS, type UiChunk, type UiMajor } from '../../../protocol/ai-sdk/index.js';
import type { ChatEvent, Message } from '../../../protocol/index.js';
import { readChunks, withoutReplaced } from '../../harness/ui-reader.js';
import { Script } from './ai-sdk-script.js';
import { answerOf, chunksFrom, scriptOf, SCRIPTS } from './ai-sdk-scripts.js';

async function expectSameEverywhere(script: Script, major: UiMajor): Promise<void> {
  const expected = answerOf(script, major);
  for (let cut = 0; cut <= script.events.length; cut++) {
    const chunks = chunksFrom(script, major, cut);
    expect(chunks.filter(isTerminator), 'one terminator').toHaveLength(1);
    expect(isTerminator(chunks.at(-1) as UiChunk), 'and it is the last').toBe(true);
    const { message, errors } = await readChunks(major, chunks);
    const told = chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.errorText] : []));
    expect(errors, `major ${major}, joined after ${cut}`).toEqual(told);
    expect(withoutReplaced(message), `major ${major}, joined after ${cut}`).toEqual(expected);
  }
}

describe.each(UI_MAJORS)('a client of major %i that joins after any event holds what the history shows', (major) => {
  test.each(Object.entries(SCRIPTS))('%s', async (_, write) => {
    await expectSameEverywhere(scriptOf(write), major);
  });
});

test('major 7 takes back what its current step holds, and nothing is left of it', async () => {
  for (const name of [
    'a model that is asked again: another text in the place of the first',
    'asked again after tools, with thoughts this time',
  ]) {
    const script = scriptOf(SCRIPTS[name] as (script: Script) => unknown);
    const { message } = await readChunks(7, chunksFrom(script, 7, 0));
    expect(message?.metadata?.turnstream?.replaced, name).toBeUndefined();
    expect(message).toEqual(answerOf(script, 7));
  }
});

test('a step that is taken back and told again is finished like any other', () => {
  const script = scriptOf((one) => {
    one.say('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'completed', output: 1 });
    const text = one.send('text', { content: 'I think' });
    one.replace(text, 'text', { content: 'No.' });
    one.end(text);
    one.say('tool_call', { toolCallId: 'b', tool: 'w', input: {}, state: 'completed', output: 1 });
    one.say('text', { content: 'Yes.' });
    one.over();
  });
  const types = chunksFrom(script, 7, 0).map(({ type }) => type);
  const count = (wanted: string): number => types.filter((type) => type === wanted).length;
  expect(count('reset-step')).toBe(1);
  expect([count('start-step'), count('finish-step')]).toEqual([3, 3]);
});

test.each([5, 6] as const)('major %i is told which parts another has replaced', async (major) => {
  const script = scriptOf(SCRIPTS['a model that is asked again: another text in the place of the first'] as never);
  const { message } = await readChunks(major, chunksFrom(script, major, 0));
  const texts = message?.parts.map((part, index) => [index, part['text'], part['state']]);
  expect(texts).toEqual([
    [0, undefined, undefined],
    [1, 'I think th', 'done'],
    [2, 'Sorry: here.', 'done'],
  ]);
  expect(message?.metadata?.turnstream?.replaced).toEqual([1]);
});

test('a large data part that grows costs a multiple of its size, and comes whole in the end', async () => {
  const script = new Script();
  const code = script.send('code', { content: '' });
  for (let index = 0; index < 1000; index++) script.append(code, 'x'.repeat(400));
  script.over();
  const chunks = chunksFrom(script, 7, 0);
  // Sent whole each time it would be 200 MB.
  expect(JSON.stringify(chunks).length).toBeLessThan(12_000_000);
  const { message } = await readChunks(7, chunks);
  expect(message).toEqual(answerOf(script, 7));
});

test('a small data part is sent with every change', () => {
  const script = new Script();
  const progress = script.send('progress', { percent: 0 });
  for (let percent = 1; percent <= 1000; percent++) script.set(progress, 'percent', percent);
  script.over();
  const sent = chunksFrom(script, 7, 0).filter(({ type }) => type === 'data-progress');
  expect(sent).toHaveLength(1001);
});

test('an answer of 10,000 messages is told in no time, and one that changes for ever comes to an end', () => {
  const script = new Script();
  const ids = Array.from({ length: 10_000 }, (_, index) =>
    script.say(index % 2 === 0 ? 'text' : 'tool_call', { content: 'x', tool: 'w', state: 'completed' }),
  );
  const began = performance.now();
  const answer = new FollowedAnswer({ ...script.turn }, 5);
  const messages = [...script.messages.values()];
  const chunks = answer.begin({ messages, offset: 0 });
  expect(chunks.length).toBeGreaterThan(20_000);
  expect(performance.now() - began).toBeLessThan(5_000);
  const edit = (version: number): UiChunk[] => {
    const message = { ...(messages[0] as Message), props: { content: `version ${version}` } };
    return answer.event({ ...(script.events[0] as ChatEvent), type: 'message.updated', message, offset: version + 1 });
  };
  let edits = 0;
  while (!answer.isOver && edits < 100) edit(++edits);
  expect(answer.isOver).toBe(true);
  expect(ids).toHaveLength(10_000);
});
