import type { JsonObject } from '../../../protocol/index.js';

/** A piece of what a row says, as a message shows it. */
export interface Part {
  readonly type: string;
  readonly props: JsonObject;
  /** Its type in the old content, where it had another one. */
  readonly was?: string;
  /** Fields of the old content that neither type nor props show. */
  readonly rest?: JsonObject;
  /** Fields of the objects around it that stand nowhere else, from the inside out. */
  readonly around?: readonly JsonObject[];
}

export const textPart = (content: string): Part => ({ type: 'text', props: { content } });

/** What of a value is left without the fields that are shown. */
export function restOf(value: JsonObject, taken: readonly string[]): { rest?: JsonObject } {
  const left = Object.entries(value).filter(([key]) => !taken.includes(key));
  return left.length === 0 ? {} : { rest: Object.fromEntries(left) };
}
