import type { SquadContent } from './conversation-message.js';

/** The text of one part; of what has none, none. */
function partText(part: unknown): string | undefined {
  const text = (part as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : undefined;
}

/** What people see of a message: its texts, a line each. */
export function textOf(content: SquadContent | null): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => partText(part) ?? []).join('\n');
}

export function partsOf(content: SquadContent): readonly unknown[] {
  if (typeof content === 'string') return [{ text: content }];
  return content ?? [];
}

/** The content with its texts replaced by one: what somebody made of them since. */
export function edited(content: SquadContent, text: string): SquadContent {
  if (typeof content === 'string') return text;
  return [{ text }, ...(content ?? []).filter((part) => partText(part) === undefined)];
}

/** What a list of all agents shows of an answer: its first part's text behind the agent's id. */
export function prefixed(agentId: string, content: SquadContent): SquadContent {
  return [{ text: `[${agentId}] ${partText(partsOf(content)[0]) ?? ''}` }];
}

/** Whether a text alone says all: one part that holds nothing else. */
export const isPlainText = (content: SquadContent): boolean =>
  Array.isArray(content) &&
  content.length === 1 &&
  partText(content[0]) !== undefined &&
  Object.keys(content[0] as object).length === 1;

/** A copy for the framework, which may do with it what it likes: what was read is kept. */
export function copied<T>(value: T): T;
export function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((held: unknown): unknown => copied(held));
  // By hand: a long conversation is copied at each reading, and `structuredClone` takes four times as long.
  const copy: Record<string, unknown> = {};
  for (const [key, held] of Object.entries(value)) copy[key] = copied(held);
  return copy;
}
