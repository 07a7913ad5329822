import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readContent } from '../../../server/cli/import/content.js';

const said = (raw: unknown, role = 'assistant', name: string | null = null) =>
  readContent(typeof raw === 'string' || raw === null ? raw : JSON.stringify(raw), { role, name });
const kept = (...parts: object[]) => ({ parts, changes: [] });
const text = (content: string, more: object = {}) => ({ type: 'text', props: { content }, ...more });

describe('words', () => {
  test.each(['hello', ' two\nlines ', '{curly} and [square]', '42', '"quoted"', 'null', '🙂 ü 漢字', '(\\{)'])(
    '%j is a text, as it is',
    (words) => expect(said(words)).toEqual(kept(text(words))),
  );

  test.each([
    { a: 1 },
    [1, 2, 3],
    ['a', 'b'],
    [[{ type: 'text', text: 'x' }]],
    { type: 'object', properties: {} },
    { type: 'function', function: { name: 'f', description: 'd', parameters: {} } },
    [{ type: 'text', text: 'x' }, 5],
    { role: 'admin', content: 'x' },
    { text: 'x', colour: 'red' },
  ])('JSON of no known form, %j, is what somebody wrote', (value) =>
    expect(said(value)).toEqual(kept(text(JSON.stringify(value)))),
  );

  test.each(['{"a":', '[{"type":"text","te', '{name}', '[hello]', '{"a":1,}', ' {\n "a": 1 '])(
    '%j looks like JSON and is none: a text, and told',
    (words) =>
      expect(said(words)).toEqual({
        parts: [text(words)],
        changes: ['it looks like JSON and is none: kept as a text'],
      }),
  );

  test.each([
    ['{"type":"text","text":"x","id":12345678901234567890}', /more digits/],
    ['{"type":"text","text":"x","n":0.1234567890123456789}', /more digits/],
    ['{"type":"text","text":"x","n":1e999}', /not finite/],
    ['{"type":"text","text":"x","text":"y"}', /twice/],
    ['{"type":"text","text":"x","__proto__":{"a":1}}', /__proto__/],
    [`{"type":"a","props":${'{"b":'.repeat(60)}1${'}'.repeat(60)}}`, /too deep/],
    ['['.repeat(5000) + ']'.repeat(5000), /nested deeper/],
  ])('what reading would lose stays a text: %#', (words, reason) => {
    const { parts, changes } = said(words);
    expect([parts, changes.length]).toEqual([[text(words)], 1]);
    expect(changes[0]).toMatch(reason);
  });

  test('keys that look like text and text that looks like keys are counted right', () => {
    const value = { type: 'note', props: { 'a":"b': '":', list: ['x', ': ', '"'], deep: { '\\': [{ k: 1 }] } } };
    expect(said(value)).toEqual(kept({ type: 'note', props: value.props }));
  });

  test('NUL and half characters become U+FFFD, and it is told', () => {
    expect(said('a\0b')).toEqual({ parts: [text('a\uFFFDb')], changes: [expect.stringMatching(/U\+FFFD/)] });
    expect(said('{"type":"text","text":"a\\u0000\\ud800"}')).toEqual({
      parts: [text('a\uFFFD\uFFFD')],
      changes: [expect.stringMatching(/U\+FFFD/)],
    });
  });

  test.each([null, '', '  ', '[]'])('%j says nothing: an empty text, and told', (raw) => {
    const { parts, changes } = said(raw);
    expect([parts[0]?.type, parts.length, changes.length]).toEqual(['text', 1, 1]);
    expect(changes[0]).toMatch(/says nothing/);
  });
});

describe('messages of the old system', () => {
  test('an object with text and type; an object with attachments', () => {
    expect(said({ text: 'hi', type: 'text' })).toEqual(kept(text('hi')));
    expect(said({ text: 'hi' })).toEqual(kept(text('hi')));
    const image = { name: 'a.png', url: '/f/1', content_type: 'image/png', bytes: 9, file_id: 'f1' };
    const shown = {
      type: 'image',
      props: { filename: 'a.png', url: '/f/1', mediaType: 'image/png', size: 9, file_id: 'f1' },
    };
    expect(said({ text: 'look', attachments: [image] }, 'user')).toEqual(kept(text('look'), shown));
    expect(said({ text: '', attachments: [image] }, 'user')).toEqual(kept(shown));
    expect(said({ attachments: [{ url: '/f/2', type: 'pdf' }, 'odd'], id: '7' }, 'user')).toEqual(
      kept(
        { type: 'file', props: { url: '/f/2' }, rest: { type: 'pdf' }, around: [{ id: '7' }] },
        { type: 'file', props: { value: 'odd' } },
      ),
    );
  });

  test('a list: thoughts, words, a tool, types of its own, in order', () => {
    expect(
      said([
        { type: 'think', id: 'M1', begin: 1, end: 2, props: { text: '<think>hm', id: 'T1' } },
        { type: 'text', id: 'M2', text: 'yo' },
        { type: 'tool', id: 'M3', props: { id: 'T2', text: '<tool>{"function":"f"}' } },
        { type: 'page', props: { table: 'users' } },
        { type: 'markdown', text: '# x' },
        { type: 'error', text: 'no' },
      ]),
    ).toEqual(
      kept(
        {
          type: 'thinking',
          props: { content: '<think>hm' },
          was: 'think',
          rest: { id: 'M1', begin: 1, end: 2, props: { id: 'T1' } },
        },
        text('yo', { rest: { id: 'M2' } }),
        {
          type: 'tool_call',
          props: { toolCallId: 'T2', content: '<tool>{"function":"f"}' },
          was: 'tool',
          around: [{ id: 'M3' }],
        },
        { type: 'page', props: { table: 'users' } },
        { type: 'markdown', props: { content: '# x' } },
        { type: 'error', props: { message: 'no' } },
      ),
    );
  });
});

describe('parts of models’ APIs', () => {
  test.each([
    [
      { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
      'image',
      { url: 'https://x/y.png', detail: 'low' },
    ],
    [{ type: 'image_url', image_url: 'https://x/y.png' }, 'image', { url: 'https://x/y.png' }],
    [{ type: 'input_image', image_url: 'https://x/y.png' }, 'image', { url: 'https://x/y.png' }],
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      'image',
      { type: 'base64', mediaType: 'image/png', url: 'data:image/png;base64,AA==' },
    ],
    [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }, 'audio', { data: 'AA==', format: 'wav' }],
    [{ type: 'file', file: { file_id: 'f', filename: 'a.pdf' } }, 'file', { file_id: 'f', filename: 'a.pdf' }],
    [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:,x' }, 'file', { filename: 'a.pdf', url: 'data:,x' }],
    [{ type: 'video_url', video_url: { url: 'https://x/v' } }, 'video', { url: 'https://x/v' }],
    [{ type: 'image', props: { url: 'u', alt: 'a' } }, 'image', { url: 'u', alt: 'a' }],
  ])('%j', (part, type, props) => {
    const { parts, changes } = said([{ type: 'text', text: 'see' }, part], 'user');
    expect(changes).toEqual([]);
    expect(parts).toMatchObject([text('see'), { type, props }]);
    expect(parts[1]?.was).toBe(part.type === type ? undefined : part.type);
  });

  test('calls of tools: the words first, then each call with its input', () => {
    const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } });
    expect(
      said({ role: 'assistant', content: 'wait', tool_calls: [call('c1', '{"q":1}'), call('c2', '{"q":')] }),
    ).toEqual(
      kept(
        text('wait', { around: [{ role: 'assistant' }] }),
        { type: 'tool_call', was: 'function', props: { toolCallId: 'c1', tool: 'f', input: { q: 1 } } },
        { type: 'tool_call', was: 'function', props: { toolCallId: 'c2', tool: 'f', input: '{"q":' } },
      ),
    );
    const big = said({ role: 'assistant', content: null, tool_calls: [call('c1', '{"id":12345678901234567890}')] });
    expect(big.parts[0]?.props['input']).toBe('{"id":12345678901234567890}');
    expect(said([{ type: 'tool_use', id: 'c1', name: 'f', input: { q: 1 } }]).parts).toEqual([
      { type: 'tool_call', was: 'tool_use', props: { toolCallId: 'c1', tool: 'f', input: { q: 1 } } },
    ]);
  });

  test('results of tools', () => {
    const result = (props: object) => ({ type: 'tool_call', props: { ...props, state: 'completed' } });
    expect(said('sunny', 'tool', 'weather')).toEqual(kept(result({ tool: 'weather', output: 'sunny' })));
    expect(said({ c: 7 }, 'function', 'weather')).toEqual(kept(result({ tool: 'weather', output: { c: 7 } })));
    expect(said('7', 'tool')).toEqual(kept(result({ output: '7' })));
    expect(said({ role: 'tool', tool_call_id: 'c1', content: 'ok' }, 'tool')).toMatchObject({
      parts: [result({ toolCallId: 'c1', output: 'ok' })],
    });
    expect(said([{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }], 'user').parts).toEqual([
      {
        type: 'tool_call',
        was: 'tool_result',
        props: { toolCallId: 'c1', output: 'no', state: 'failed' },
        rest: { is_error: true },
      },
    ]);
    expect(said('[{"type":"text","text":"x"}]', 'tool').parts).toEqual([
      result({ output: [{ type: 'text', text: 'x' }] }),
    ]);
    expect(said('{"a":', 'tool').parts).toEqual([result({ output: '{"a":' })]);
  });
});

describe('nothing is lost', () => {
  /** Values with a mark of their own, so that each can be found again. */
  const marked = (): fc.Arbitrary<unknown> => {
    let count = 0;
    const leaf = fc.constant(null).map(() => `«${++count}»`);
    return fc.oneof(
      leaf,
      fc.dictionary(fc.constantFrom('text', 'id', 'url', 'content', 'name', 'type'), leaf),
      fc.array(leaf),
    );
  };
  const key = fc.constantFrom(
    ...['id', 'text', 'props', 'content', 'name', 'function', 'input', 'arguments', 'output', 'result', 'state'],
    ...['attachments', 'image_url', 'file', 'source', 'url', 'role', 'tool_calls', 'tool_call_id', 'thinking', 'begin'],
    ...[
      'mentions',
      'actions',
      'content_type',
      'bytes',
      'filename',
      'file_data',
      'data',
      'media_type',
      'mediaType',
      'x',
    ],
  );
  const type = fc.constantFrom(
    ...['text', 'think', 'tool', 'tool_use', 'tool_result', 'function', 'image_url', 'input_image', 'image', 'file'],
    ...['input_audio', 'page', 'error', 'markdown', 'event', 'tool_call'],
  );
  const piece = fc
    .tuple(fc.option(type), fc.dictionary(key, marked()), fc.option(fc.constantFrom('assistant', 'tool', 'user')))
    .map(([kind, fields, role]) => ({
      ...fields,
      ...(kind === null ? {} : { type: kind }),
      ...(role === null ? {} : { role }),
    }));

  test('whatever a content of a known form holds is found again in what it has become', () => {
    const content = fc.oneof(
      piece,
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      fc.record({ text: fc.constant('«t»'), attachments: fc.array(piece, { maxLength: 2 }) }),
      fc.record({ role: fc.constant('assistant'), content: marked(), tool_calls: fc.array(piece, { maxLength: 2 }) }),
    );
    fc.assert(
      fc.property(content, fc.constantFrom('user', 'assistant', 'tool'), (value, role) => {
        const raw = JSON.stringify(value);
        const now = JSON.stringify(said(raw, role).parts);
        for (const mark of raw.match(/«\w+»/g) ?? []) expect(now, raw).toContain(mark);
      }),
      { numRuns: 2000 },
    );
  });
});
