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

export interface Line {
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
  if (isJsonObject(input)) return `${String(input['path'])}/call`;
  return String(content).split(' ')[0] ?? '';
}

export const isHandled = ({ metadata }: Step): boolean => metadata?.['handled'] === true;

const rowOf = (step: Step): string =>
  [
    pathOfStep(step.type, step.input),
    step.type,
    step.assistantId,
    step.stackDepth,
    // Below a step that was handled, nobody says whether a failed one was.
    step.status,
    canonical(withoutIds(step.output)),
  ].join(' ');

/** Without what is another one each time. */
function withoutIds(value: Json): Json {
  if (Array.isArray(value)) return (value as Json[]).map(withoutIds);
  if (!isJsonObject(value)) return value;
  const { said, ...rest } = value;
  const entries = Object.entries(rest).map(([key, part]) => [key, withoutIds(part)] as const);
  // What was said on the side may have been said side by side.
  const lines = Array.isArray(said) ? (said as Json[]).map(contentOf).sort(byText) : undefined;
  return { ...Object.fromEntries(entries), ...(lines ? { said: lines } : said === undefined ? {} : { said }) };
}

const contentOf = (message: Json): Json =>
  isJsonObject(message) && 'messageId' in message
    ? { type: message['type'] ?? null, props: message['props'] ?? null }
    : message;
const byText = (a: Json, b: Json): number => (canonical(a) < canonical(b) ? -1 : 1);

export function canonical(value: Json): string {
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
  const lost = wanted.filter((one) => !found.includes(one));
  const more = found.filter((one) => !wanted.includes(one));
  const count = wanted.length === found.length ? [] : [`${wanted.length} ${what}s — ${found.length}`];
  return [
    ...lost.map((one) => `${what} is missing: ${one}`),
    ...more.map((one) => `${what} too many: ${one}`),
    ...(lost.length + more.length === 0 ? count : []),
  ];
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
