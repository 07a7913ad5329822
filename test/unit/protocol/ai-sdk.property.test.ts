import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UI_MAJORS } from '../../../protocol/ai-sdk/index.js';
import type { JsonObject } from '../../../protocol/index.js';
import { readChunks, withoutReplaced } from '../../harness/ui-reader.js';
import { Script } from './ai-sdk-script.js';
import { answerOf, chunksFrom } from './ai-sdk-scripts.js';

/** Anything that assistants and people may do to the messages of a turn. */
type Deed = readonly [deed: string, which: number, value: string];

const deeds = fc.array(
  fc.tuple(
    fc.constantFrom(
      'text',
      'thinking',
      'tool',
      'written',
      'data',
      'loading',
      'image',
      'append',
      'append',
      'append',
      'end',
      'end',
      'output',
      'fail',
      'input',
      'replace',
      'retype',
      'edit',
      'remove',
    ),
    fc.nat(7),
    fc.constantFrom('a', 'bc', '', 'a b', 'é', '🙂'),
  ),
  { maxLength: 24 },
);

const NEW: Readonly<Record<string, (value: string) => [string, JsonObject]>> = {
  text: (content) => ['text', { content }],
  thinking: (content) => ['thinking', { content }],
  tool: (value) => ['tool_call', { toolCallId: `id-${value}`, tool: 'w', input: { value }, state: 'running' }],
  written: (inputText) => ['tool_call', { toolCallId: `id-${inputText}`, tool: 'w', inputText, state: 'running' }],
  data: (content) => ['table', { content }],
  loading: (message) => ['loading', { message, done: false }],
  image: (value) => ['image', { url: `https://example.com/${encodeURIComponent(value)}.png` }],
};

function play(list: readonly Deed[]): Script {
  const script = new Script();
  for (const [deed, which, value] of list) {
    const make = NEW[deed];
    if (make) {
      script.send(...make(value));
      continue;
    }
    const all = [...script.messages.values()];
    const message = all[which % Math.max(all.length, 1)];
    if (message) act(script, message.messageId, deed, value);
  }
  return script.over();
}

function act(script: Script, messageId: string, deed: string, value: string): void {
  const { state, type } = script.messages.get(messageId) as { state: string; type: string };
  if (deed === 'remove') script.remove(messageId);
  else if (deed === 'edit' && state === 'closed') script.edit(messageId, { props: { content: value, tool: 'w' } });
  if (state === 'closed') return;
  if (deed === 'append' && type === 'tool_call') script.append(messageId, value, 'inputText');
  else if (deed === 'append') script.append(messageId, value);
  else if (deed === 'end') script.end(messageId);
  else if (deed === 'output') script.merge(messageId, { output: value, state: value === '' ? 'running' : 'completed' });
  else if (deed === 'fail') script.merge(messageId, { state: 'failed', error: value });
  else if (deed === 'input') script.set(messageId, 'input', { value });
  else if (deed === 'replace')
    script.replace(messageId, type, { content: value, tool: 'w', toolCallId: `id-${value}` });
  else if (deed === 'retype')
    script.replace(messageId, ...(NEW['thinking'] as (value: string) => [string, JsonObject])(value));
}

const inAnyOrder = (parts: readonly unknown[]): string[] =>
  parts.map((part) => JSON.stringify(part, Object.keys(part as object).sort())).sort();

test.each(UI_MAJORS)(
  'major %i: whatever is done to the messages, whoever joins after any event holds the history',
  async (major) => {
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const script = play(list);
        const expected = answerOf(script, major);
        for (let cut = 0; cut <= script.events.length; cut++) {
          const { message, errors } = await readChunks(major, chunksFrom(script, major, cut));
          expect(errors).toEqual([]);
          const read = withoutReplaced(message);
          // Data that stands before what was replaced keeps its place.
          if (JSON.stringify(expected.parts).includes('"data-'))
            expect(inAnyOrder(read?.parts ?? [])).toEqual(inAnyOrder(expected.parts));
          else expect(read).toEqual(expected);
        }
      }),
      { numRuns: 150 },
    );
  },
);
