import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import {
  Audio,
  audio,
  Image,
  image,
  PDF,
  pdf,
  SchemaRegistry,
  ValidationError,
  ValueError,
  video,
  VideoURL,
} from '../../../stores/atomic/index.js';
import { wireContent } from '../../../stores/atomic/wire-content.js';

const picture = (source = 'https://example.org/a.jpg') => new Image({ source });

describe('SchemaRegistry', () => {
  const schemas = new SchemaRegistry({
    Question: z.object({ b: z.string(), a: z.int(), colour: z.enum(['red', 'green']).default('red') }),
    Pictured: z.object({ text: z.string(), picture: image }),
    Timed: z.object({ at: z.coerce.date() }),
    Word: z.string(),
    Anything: z.object({ value: z.unknown() }),
  });

  test('Atomic 4c.12: content is what its schema makes of a value, with the fields in the order of the schema', () => {
    const content = schemas.make('Question', { a: 1, b: 'x' });
    expectTypeOf(content.data.colour).toEqualTypeOf<'red' | 'green'>();
    expect(content.data).toEqual({ b: 'x', a: 1, colour: 'red' });
    expect(wireContent(content.data)).toBe('{"b":"x","a":1,"colour":"red"}');
  });

  test('Atomic 4c.14: a name that is not registered is refused, whatever it is a name of', () => {
    expect(schemas.has('Question')).toBe(true);
    expect(schemas.has('BasicChatInputSchema')).toBe(true);
    for (const name of ['Missing', 'os.system', 'constructor', '__proto__', 'toString']) {
      expect(schemas.has(name)).toBe(false);
      expect(() => schemas.read(name, {})).toThrow(ValueError);
    }
  });

  test('a value that does not fit, is no object or no JSON is a ValidationError, which is a ValueError', () => {
    const cyclic: { value: unknown } = { value: null };
    cyclic.value = cyclic;
    let shared: unknown = 1;
    for (let level = 0; level < 50; level++) shared = [shared, shared];
    for (const [name, value] of [
      ['Question', { a: 1.5, b: 'x' }],
      ['Question', null],
      ['Word', 'text'],
      ['Timed', { at: '2026-01-01' }],
      ['Anything', { value: new Map() }],
      ['Anything', { value: NaN }],
      ['Anything', cyclic],
      ['Anything', { value: shared }],
      ['Anything', { value: JSON.parse('{"__proto__": {"admin": true}}') as unknown }],
      ['Anything', { value: JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown }],
    ] as const) {
      expect(() => schemas.read(name, value), name).toThrow(ValidationError);
      expect(() => schemas.read(name, value), name).toThrow(ValueError);
    }
    expect(new ValueError('x').name).toBe('ValueError');
  });

  test('content never changes, and shares nothing with what it was made from', () => {
    const value = { value: { list: [1] } };
    const content = schemas.make('Anything', value);
    value.value.list.push(2);
    expect(content.data).toEqual({ value: { list: [1] } });
    expect(() => (content.data.value as { list: number[] }).list.push(3)).toThrow(TypeError);
  });

  test('text is well-formed from the beginning (DAT-1), so that the list and the chat hold the same', () => {
    expect(schemas.make('BasicChatInputSchema', { chat_message: 'a\u0000b\ud800c' }).data.chat_message).toBe(
      'a\uFFFDb\uFFFDc',
    );
  });

  test('content of another registry is none of this one', () => {
    const others = new SchemaRegistry({ Question: z.object({ b: z.string() }) });
    expect(schemas.isInstance(others.make('Question', { b: 'x' }))).toBe(false);
    expect(schemas.isInstance(schemas.make('Question', { a: 1, b: 'x' }))).toBe(true);
    expect(schemas.isInstance({ schemaName: 'Question', data: { a: 1, b: 'x' } })).toBe(false);
  });

  test('media come back as their classes from their JSON', () => {
    const content = schemas.make('Pictured', { text: 'x', picture: picture() });
    const again = schemas.read('Pictured', JSON.parse(JSON.stringify(content.json)));
    expect(again.data).toEqual(content.data);
    expect((again.data as { picture: unknown }).picture).toBeInstanceOf(Image);
    expect(() => schemas.read('Pictured', { text: 'x', picture: { path: 'x' } })).toThrow(ValidationError);
    expect(() => new Image({ source: 1 as never })).toThrow(ValueError);
  });
});

describe('content as a model takes it', () => {
  test('Atomic 4c.6: non-ASCII stands unescaped', () => {
    expect(wireContent({ test_field: 'àéèï' })).toBe('{"test_field":"àéèï"}');
    expect(wireContent({ test_field: 'â' })).toBe('{"test_field":"â"}');
  });

  test('Atomic 4c.10: nested content is compact JSON', () => {
    expect(wireContent({ nested: { field: 'x', list: [1, 2], of: { a: null } }, n: 3.14 })).toBe(
      '{"nested":{"field":"x","list":[1,2],"of":{"a":null}},"n":3.14}',
    );
  });

  const a = picture('a.jpg');
  const b = picture('b.jpg');
  const sound = new Audio({ source: 'a.wav' });
  const document = new PDF({ source: 'a.pdf' });
  test.each([
    ['19: one image', { text: 'x', image: a }, ['{"text":"x"}', a]],
    ['19: one sound', { text: 'x', sound }, ['{"text":"x"}', sound]],
    ['19: one document', { text: 'x', document }, ['{"text":"x"}', document]],
    ['20: several fields', { one: a, text: 'x', two: document }, ['{"text":"x"}', a, document]],
    ['21: a mixed list keeps its other items', { list: ['x', a, 1, b] }, ['{"list":["x",1]}', a, b]],
    ['22: nested and above', { top: a, inner: { text: 'x', image: b } }, ['{"inner":{"text":"x"}}', a, b]],
    ['23: deep only', { one: { two: { three: a, n: 1 } } }, ['{"one":{"two":{"n":1}}}', a]],
    [
      '24: a list of objects',
      {
        items: [
          { n: 1, image: a },
          { n: 2, image: b },
        ],
      },
      ['{"items":[{"n":1},{"n":2}]}', a, b],
    ],
    ['25: nothing else: no JSON part', { images: [a, b] }, [a, b]],
    ['26: none: a string', { text: 'x', list: [], map: {} }, '{"text":"x","list":[],"map":{}}'],
    ['27: a dictionary of images', { text: 'x', map: { a, b } }, ['{"text":"x"}', a, b]],
    ['27: a tuple', { pair: [a, 'x'] as const }, ['{"pair":["x"]}', a]],
  ])('Atomic 4c.%s', (_case, data, expected) => {
    expect(wireContent(data)).toEqual(expected);
  });

  test('a film is given as a part of type video_url', () => {
    const url = 'https://example.org/a.mp4';
    expect(wireContent({ film: new VideoURL({ url, fps: 2 }), other: new VideoURL({ url }) })).toEqual([
      { type: 'video_url', video_url: { url, fps: 2 } },
      { type: 'video_url', video_url: { url } },
    ]);
  });

  test('each kind is a field of a schema', () => {
    const schemas = new SchemaRegistry({ All: z.object({ image, audio, pdf, video, images: z.array(image) }) });
    const film = new VideoURL({ url: 'https://example.org/a.mp4' });
    const content = schemas.make('All', { image: a, audio: sound, pdf: document, video: film, images: [a, b] });
    expect(wireContent(content.data)).toEqual([a, sound, document, film.part, a, b]);
    expect(schemas.read('All', content.json).data).toEqual(content.data);
  });
});
