import type { Message } from '../message.js';
import { partOf, type UiPart } from './ui-part.js';

/** A part of a UI message, or the boundary before a step of the model. */
export type Entry =
  { readonly kind: 'step' } | { readonly kind: 'part'; readonly message: Message; readonly part: UiPart };

const STEP: Entry = { kind: 'step' };

/**
 * The messages of one answer as the parts of a UI message, in order. A step begins with the first part, and with whatever
 * a model says after it has called tools: that is what the AI SDK calls a step, and it needs no more than the messages,
 * so that a stream, its replay and the history agree.
 */
export function layoutOf(messages: readonly Message[]): Entry[] {
  const layout = new Layout();
  for (const message of messages) layout.add(message);
  return layout.entries;
}

/** A layout that grows at its end. */
export class Layout {
  readonly entries: Entry[] = [];
  /** Tool call ids that are taken → by the message. Some servers of models number the calls of each round anew. */
  readonly #callers = new Map<string, string>();
  #hasTool = false;

  /** @returns the entries that come with it: none for what is of the moment */
  add(message: Message): Entry[] {
    const part = this.named(message);
    if (part.kind === 'data' && part.transient) return [];
    const saysMore = part.kind === 'text' || part.kind === 'reasoning';
    const begins = this.entries.length === 0 || (saysMore && this.#hasTool);
    if (part.kind === 'tool') this.#callers.set(part.toolCallId, message.messageId);
    this.#hasTool = part.kind === 'tool' || (this.#hasTool && !begins);
    const added: Entry[] = [...(begins ? [STEP] : []), { kind: 'part', message, part }];
    this.entries.push(...added);
    return added;
  }

  /** The part of a message, which the layout may hold already. A tool call whose id another one has goes by its message's. */
  named(message: Message): UiPart {
    const part = partOf(message);
    if (part.kind !== 'tool') return part;
    const caller = this.#callers.get(part.toolCallId) ?? message.messageId;
    return caller === message.messageId ? part : { ...part, toolCallId: message.messageId };
  }
}
