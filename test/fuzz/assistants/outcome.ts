import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type Message, type Step } from '../../../protocol/index.js';
import type { Effect } from './effects.js';
import { LOSER, pathOfStep } from './perform.js';

/** What a tree has come to, in words that are the same in every run. */
export interface Outcome {
  readonly messages: readonly Line[];
  readonly steps: readonly string[];
  /** Which effects there were. */
  readonly paths: readonly string[];
  /** How many events it took. */
  readonly events: number;
}

interface Line {
  readonly path: string;
  readonly type: string;
  readonly props: Json;
  readonly assistantId: string | null;
  readonly isOfStep: boolean;
}

export function outcomeOf(
  messages: readonly Message[],
  steps: readonly Step[],
  { effects, events }: { readonly effects: readonly Effect[]; readonly events: number },
): Outcome {
  return {
    messages: messages
      .filter(({ role }) => role === 'assistant')
      .map(({ type, props, assistantId, stepId }) => {
        return { path: pathOfMessage(props), type, props, assistantId, isOfStep: stepId !== null };
      }),
    steps: steps
      .filter(({ type, input }) => !pathOfStep(type, input).includes(LOSER))
      .map(rowOf)
      .sort(),
    paths: [...new Set(effects.map(({ path }) => path))].sort(),
    events,
  };
}

function pathOfMessage({ content, input }: Message['props']): string {
  if (isJsonObject(input)) return `${input['path'] as string}/call`;
  return (content as string).split(' ')[0] ?? '';
}

const isHandled = ({ metadata }: Step): boolean => metadata?.['handled'] === true;

const rowOf = (step: Step): string =>
  [
    pathOfStep(step.type, step.input),
    step.type,
    step.assistantId,
    step.stackDepth,
    isHandled(step) ? 'handled' : step.status,
    canonical(withoutAside(step.output)),
  ].join(' ');

/**
 * Without what hidden calls had said: after a resume that is what the new run said
 * (docs/decisions/0055-calls-in-the-contract.md).
 */
function withoutAside(value: Json): Json {
  if (Array.isArray(value)) return (value as Json[]).filter((part) => !isMessage(part)).map(withoutAside);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutAside(part)]));
}

const isMessage = (value: Json): boolean => isJsonObject(value) && 'messageId' in value;

function canonical(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** What differs between an undisturbed run and one that was disturbed and resumed. */
export function differences(plain: Outcome, resumed: Outcome): string[] {
  const wanted = new Map(plain.messages.map((line) => [keyOf(line), line]));
  const found = new Map(resumed.messages.map((line) => [keyOf(line), line]));
  const faults: string[] = [];
  const twice = resumed.messages.length - found.size;
  if (twice > 0 && plain.messages.length === wanted.size) {
    const keys = resumed.messages.map(keyOf);
    faults.push(`messages stand twice: ${keys.filter((key, at) => keys.indexOf(key) !== at).join(', ')}`);
  }
  for (const [key, line] of wanted) {
    const other = found.get(key);
    if (!other) faults.push(`a message is missing: ${JSON.stringify(line)}`);
    else if (!isDeepStrictEqual(line, other))
      faults.push(`a message differs: ${JSON.stringify(line)} — ${JSON.stringify(other)}`);
  }
  for (const [key, line] of found) if (!wanted.has(key)) faults.push(`a message too many: ${JSON.stringify(line)}`);
  faults.push(...missing('step', plain.steps, resumed.steps), ...missing('effect', plain.paths, resumed.paths));
  if (faults.length === 0) faults.push(...misplaced(plain.messages, resumed.messages));
  return faults;
}

/** One model call may both think and speak. */
const keyOf = ({ path, type }: Line): string => `${path} ${type}`;

function missing(what: string, wanted: readonly string[], found: readonly string[]): string[] {
  const more = found.filter((one) => !wanted.includes(one));
  const lost = wanted.filter((one) => !found.includes(one));
  const count = wanted.length === found.length ? [] : [`${wanted.length} ${what}s — ${found.length}`];
  const pairs = lost.map((one) => {
    const other = more.findIndex((candidate) => headOf(candidate) === headOf(one));
    return other < 0 ? `${what} is missing: ${one}` : `${what} differs: ${apart(one, more.splice(other, 1)[0] ?? '')}`;
  });
  return [...pairs, ...more.map((one) => `${what} too many: ${one}`), ...(pairs.length + more.length ? [] : count)];
}

/** Path and type of a row. */
const headOf = (row: string): string => row.split(' ', 2).join(' ');

/** Where two rows begin to differ. */
function apart(one: string, other: string): string {
  let at = 0;
  while (one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return `${headOf(one)}: …${one.slice(from, at + 200)} — …${other.slice(from, at + 200)}`;
}

function misplaced(plain: readonly Line[], resumed: readonly Line[]): string[] {
  const placeOf = new Map(resumed.map((line, at) => [keyOf(line), at]));
  const at = (line: Line): number => placeOf.get(keyOf(line)) ?? 0;
  return plain.flatMap((line, index) => {
    const wrong = plain.slice(index + 1).find((later) => at(later) < at(line) && isInOrder(line, later));
    return wrong ? [`out of order: ${keyOf(line)} after ${keyOf(wrong)}`] : [];
  });
}

/** Whether the order of two messages is the program's, however often it was interrupted. */
function isInOrder(first: Line, second: Line): boolean {
  // It changes what it had said, and comes again when its code runs again.
  const isRewritten = first.type === 'card' || first.type === 'table';
  if (isRewritten && !first.isOfStep) return false;
  if (areBeside(first.path, second.path)) return false;
  const owner = ownerOf(first);
  // What a step says itself comes again, what the steps below it said stands.
  return !first.isOfStep || !second.path.startsWith(`${owner}/`) || ownerOf(second) === owner;
}

function areBeside(first: string, second: string): boolean {
  const [a, b] = [first.split(/(?<=[|/])/), second.split(/(?<=[|/])/)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at > 0 && (a[at - 1] as string).endsWith('|');
}

/** The path of the step or the assistant that says it. */
const ownerOf = ({ path }: Line): string => path.slice(0, path.lastIndexOf('/'));
