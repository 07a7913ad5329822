import fc from 'fast-check';
import * as z from 'zod';
import { op } from '../../protocol/index.js';

/**
 * Malformed arguments, made from the schemas of the command tables: a value as a caller would write it, in which one or
 * more places are faulty. A fault is JSON text, not a value: what is nested beyond the stack, or has a key twice, is no
 * value of JavaScript's. It is kept as a recipe, so that a counterexample of a megabyte is still one line.
 */

/** `head unit×times middle close×times tail`; in a unit `#` is the number of the repetition. */
interface Recipe {
  readonly head?: string;
  readonly unit?: string;
  readonly times?: number;
  readonly middle?: string;
  readonly close?: string;
  readonly tail?: string;
}

function cook({ head = '', unit = '', times = 0, middle = '', close = '', tail = '' }: Recipe): string {
  const units = unit.includes('#')
    ? Array.from({ length: times }, (_, index) => unit.replaceAll('#', String(index))).join('')
    : unit.repeat(times);
  return `${head}${units}${middle}${close.repeat(times)}${tail}`;
}

/** What is wrong, and in which place: `at` chooses among those that the value has. Without a recipe the place is left out. */
interface Fault {
  readonly at: number;
  /** Whether it takes the place of the value, or is one more member of the object there. */
  readonly as: 'value' | 'member';
  readonly recipe: Recipe | null;
}

interface Malformed {
  /** With the names of {@link Facts} in their places. */
  readonly value: unknown;
  readonly faults: readonly Fault[];
}

/** Ids of things that are there, by the names of arguments: what is faulty elsewhere gets past the first look by them. */
export type Facts = Readonly<Record<string, string | number>>;

type Schema = z.core.JSONSchema.BaseSchema;
type Node = Schema | boolean | undefined;

const schemaOf = (args: z.ZodType): Schema => z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' });

/** What the tables leave open, because it is looked at one by one. */
const INNER: Readonly<Record<string, Schema>> = { ops: schemaOf(z.array(op)) };

/** A value that the schema takes, as far as JSON Schema can say that; `name` is that of the argument. */
function valueOf(node: Node, facts: readonly string[], name = ''): fc.Arbitrary<unknown> {
  const made = madeOf(INNER[name] && node !== INNER[name] ? INNER[name] : node, facts, name);
  return facts.includes(name) ? fc.oneof({ weight: 3, arbitrary: fc.constant(`@${name}`) }, made) : made;
}

function madeOf(node: Node, facts: readonly string[], name: string): fc.Arbitrary<unknown> {
  if (typeof node !== 'object') return fc.jsonValue({ maxDepth: 2 });
  if ('const' in node) return fc.constant(node.const);
  if (node.enum) return fc.constantFrom(...node.enum);
  const choices = node.anyOf ?? node.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => madeOf(choice as Node, facts, name)));
  switch (node.type) {
    case 'object':
      return objectOf(node, facts);
    case 'array':
      return fc.array(valueOf(node.items as Node, facts, name.replace(/s$/, '')), {
        minLength: Math.min(node.minItems ?? 0, 3),
        maxLength: Math.max(node.minItems ?? 0, 3),
      });
    case 'string':
      return textOf(node);
    case 'integer':
    case 'number':
      return fc.integer({ min: node.minimum ?? -10, max: Math.min(node.maximum ?? 10, (node.minimum ?? 0) + 20) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue()));
  }
}

function objectOf({ properties = {}, required = [] }: Schema, facts: readonly string[]): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([key, node]) => [key, valueOf(node as Node, facts, key)] as const);
  return fc.record(Object.fromEntries(members), { requiredKeys: required });
}

function textOf({ pattern, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<string> {
  // What fast-check cannot make of a pattern (classes of Unicode) is plain letters, which all of ours take.
  const isPlain = pattern !== undefined && !pattern.includes('\\p');
  if (isPlain) return fc.stringMatching(new RegExp(pattern));
  return fc.stringMatching(new RegExp(`^[a-z]{${minLength},${Math.min(maxLength, 20)}}$`));
}

const literal = (...texts: string[]): fc.Arbitrary<Recipe> => fc.constantFrom(...texts.map((middle) => ({ middle })));

const WRONG = literal(
  ...['null', 'true', 'false', '0', '-1', '1.5', '""', '"x"', '"1"', '[]', '{}', '[[]]', '[null]', '{"a":1}'],
  ...['{"length":1}', '{"toString":1}', '{"then":1}', '{"toJSON":"x"}', '{"_placeholder":true,"num":0}', '[{}]'],
);
const NUMBERS = literal(
  ...['1e308', '1e999', '-1e999', '-0', '9007199254740992', '-9007199254740993', '2147483648', '1e21', '0.1', '5e-324'],
  `1${'0'.repeat(400)}`,
);
const TEXTS = literal(
  ...["\"' OR '1'='1\"", '"\'; DROP TABLE Chat; --"', '"%"', '"_"', '"../../../../etc/passwd"', '"C:\\\\con"', '"%00"'],
  ...[
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud83c"',
    '"\\udf0d\\ud83c"',
    '"\\ufeff"',
    '"\\u202e"',
    '"\\r\\nx: y"',
    '"\\u2028"',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"prototype"',
    '"toString"',
    '"hasOwnProperty"',
    '"a.__proto__.b"',
    '"a..b"',
    '"0"',
  ],
  ...['"9999999999.x"', '"props."', '"."', '"<script>"', '"${x}"', '"$where"', '"((a+)+)+$"', '"\\\\"', '"/"', '"*"'],
);
const IDS = fc.oneof(
  literal('""', '" "', '"a b"', '"a\\n"', '"é"', '"a/b"', '"a,b"', '"null"', '"-"', '"😀"', '"a\\u0301"'),
  fc.constantFrom(65, 201, 1000).map((times) => ({ head: '"', unit: 'i', times, tail: '"' })),
);
const unicode = fc.string({ unit: 'binary', maxLength: 30 }).map((text) => ({ middle: JSON.stringify(text) }));

/** Large, but a frame that is answered (DAT-3): what is larger still belongs to malformed-packets.ts. */
const HUGE = fc.oneof(
  fc
    .record({
      unit: fc.constantFrom('x', '\\u0000', '😀', '\\ud83c', '\\"', '%', 'é'),
      bytes: fc.constantFrom(501, 5_000, 70_000, 1_200_000),
    })
    .map(({ unit, bytes }) => ({ head: '"', unit, times: Math.ceil(bytes / Buffer.byteLength(unit)), tail: '"' })),
  fc
    .record({
      unit: fc.constantFrom('0,', '"x",', '{},', '[],', '[[]],', '"i#",'),
      times: fc.constantFrom(101, 1001, 50_000),
    })
    .map(({ unit, times }) => ({ head: '[', unit, times, middle: '0', tail: ']' })),
);
const DEEP = fc
  .record({
    times: fc.constantFrom(63, 64, 65, 1_000, 10_000, 100_000),
    nest: fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[{"a":', '}]'], ['{"__proto__":', '}'], ['{"props":', '}']),
  })
  .map(({ times, nest: [unit = '', close = ''] }) => ({ unit, times, middle: '1', close }));

const MEMBERS = fc.oneof(
  fc
    .record({
      key: fc.constantFrom(
        ...[
          '__proto__',
          'constructor',
          'prototype',
          'toString',
          'toJSON',
          'then',
          'length',
          '_placeholder',
          'hasOwnProperty',
        ],
        ...[
          '\\ud83c',
          '\\u0000',
          '',
          ' ',
          '.',
          'a.b',
          '0',
          '-1',
          '\\u202e',
          'userId',
          'tenantId',
          'createdBy',
          'roles',
        ],
      ),
      value: fc.constantFrom('1', 'null', '{"admin":true}', '{"prototype":{"x":1}}', '[]', '"x"'),
    })
    .map(({ key, value }) => ({ middle: `"${key}":${value}` })),
  fc.constantFrom(100, 10_000).map((times) => ({ unit: '"k#":#,', times, middle: '"z":0' })),
  fc.constantFrom(1, 1_000).map((times) => ({ unit: '"twice":#,', times, middle: '"twice":{}' })),
  fc.constantFrom(300, 100_000).map((times) => ({ head: '"', unit: 'k', times, tail: '":1' })),
);

const at = fc.nat(1000);
const put = (recipe: fc.Arbitrary<Recipe>): fc.Arbitrary<Fault> => fc.record({ at, as: fc.constant('value'), recipe });

/** Each kind of fault: what a run sends to a command has one of all of them. */
const FAULTS: Readonly<Record<string, fc.Arbitrary<Fault>>> = {
  missing: fc.record({ at, as: fc.constant('value' as const), recipe: fc.constant(null) }),
  wrong: put(WRONG),
  number: put(NUMBERS),
  text: put(fc.oneof(TEXTS, unicode)),
  id: put(IDS),
  huge: put(HUGE),
  deep: put(DEEP),
  // In one more member of an object: where values of any form are taken, it is met on the way in.
  'deep member': fc.record({
    at,
    as: fc.constant('member' as const),
    recipe: DEEP.map((recipe) => ({ ...recipe, head: '"metadata":' })),
  }),
  member: fc.record({ at, as: fc.constant('member' as const), recipe: MEMBERS }),
};

/** A frame twice as large as the bound is answered no more. */
const MAX_SIZE = 1_900_000;

const sizeOf = (faults: readonly Fault[]): number =>
  faults.reduce((bytes, { recipe }) => bytes + (recipe ? Buffer.byteLength(cook(recipe)) : 0), 0);

/** For one command: a value without a fault, one for each kind of fault, and one with several. */
export function malformedOf(args: z.ZodType, facts: readonly string[]): fc.Arbitrary<Malformed[]> {
  const value = valueOf(schemaOf(args), facts);
  const kinds = Object.values(FAULTS);
  const one = kinds.map((fault) => fc.record({ value, faults: fc.tuple(fault) }));
  const several = fc
    .record({ value, faults: fc.array(fc.oneof(...kinds), { minLength: 2, maxLength: 4 }) })
    .filter(({ faults }) => sizeOf(faults) < MAX_SIZE);
  const none = fc.record({ value, faults: fc.constant([]) });
  return fc.tuple(none, ...one, several);
}

type Place = { readonly parent: Record<string, unknown>; readonly key: string };

function placesIn(parent: Record<string, unknown>, key: string): Place[] {
  const inner = parent[key];
  if (inner === null || typeof inner !== 'object') return [{ parent, key }];
  const held = inner as Record<string, unknown>;
  return [{ parent, key }, ...Object.keys(held).flatMap((name) => placesIn(held, name))];
}

const MARK = '@fault-';

/** Arguments as text: one for each member where they are an object, and the whole. */
export class Written {
  readonly #root: unknown;
  readonly #texts: readonly string[];

  constructor(
    { value, faults }: Malformed,
    private readonly facts: Facts,
  ) {
    const top: Record<string, unknown> = { root: structuredClone(value) };
    faults.forEach((fault, index) => place(top, fault, `${MARK}${index}`));
    this.#root = top['root'];
    this.#texts = faults.map(({ recipe }) => (recipe ? cook(recipe) : ''));
  }

  get text(): string {
    return this.#json(this.#root);
  }

  /** Name and JSON text of each member; null where the whole is no object. */
  members(): Map<string, string> | null {
    if (this.#root === null || typeof this.#root !== 'object') return null;
    return new Map(Object.entries(this.#root).map(([key, inner]) => [key, this.#json(inner)]));
  }

  /** Without the members of these names. */
  textWithout(names: readonly string[]): string {
    if (this.#root === null || typeof this.#root !== 'object') return this.text;
    return this.#json(Object.fromEntries(Object.entries(this.#root).filter(([key]) => !names.includes(key))));
  }

  #json(value: unknown): string {
    return (JSON.stringify(value) ?? 'null')
      .replace(/"@fault-(\d+)(?::member":0|")/g, (_, index: string) => this.#texts[Number(index)] ?? 'null')
      .replace(/"@(\w+)"/g, (whole, name: string) => (name in this.facts ? JSON.stringify(this.facts[name]) : whole));
  }
}

function place(top: Record<string, unknown>, { at: chosen, as, recipe }: Fault, mark: string): void {
  const places = placesIn(top, 'root');
  if (as === 'member') {
    const objects = places.filter(({ parent, key }) => isObject(parent[key]));
    const found = objects[chosen % objects.length];
    if (found) (found.parent[found.key] as Record<string, unknown>)[`${mark}:member`] = 0;
    return;
  }
  // The whole is one place of many; it must not take the turn of the members where there are few.
  const inner = places.length > 1 && chosen % 8 !== 0 ? places.slice(1) : places;
  const { parent, key } = inner[chosen % inner.length] as Place;
  if (recipe) parent[key] = mark;
  else delete parent[key];
}

const isObject = (value: unknown): boolean => value !== null && typeof value === 'object' && !Array.isArray(value);
