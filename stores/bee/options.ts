import * as z from 'zod';
import type { JsonObject } from '../../protocol/index.js';
import { chatIdOf } from '../chat-id.js';
import type { MemoryChat } from './chat-rows.js';

/** Which chat a memory is, and who speaks in it. */
export interface MemoryOptions {
  /** Names the memory: the same key is the same chat. Any text, or several. This or `chatId`. */
  readonly key?: string | readonly string[] | undefined;
  /** A chat by its own id: one that there is already, for instance. */
  readonly chatId?: string | undefined;
  /** Who the answers are by, where the memory makes its chat and in what it adds. Default: `bee`. */
  readonly assistantId?: string | undefined;
  /** Of the chat, where the memory makes it. */
  readonly title?: string | undefined;
}

export type MemoryKind = 'unconstrained' | 'sliding' | 'token' | 'summarize';

const place = {
  key: z.union([z.string(), z.array(z.string())]).optional(),
  chatId: z.string().optional(),
  assistantId: z.string().optional(),
  title: z.string().optional(),
};

/** Infinity too: the text of the framework has a word for it. */
const number = z.custom<number>((value) => typeof value === 'number');

/** What a snapshot holds: where the messages are, and settings. Never messages, functions, models or credentials. */
export const snapshot = z.object({
  memory: z.enum(['unconstrained', 'sliding', 'token', 'summarize']),
  ...place,
  settings: z.record(z.string(), number),
  /** What it cannot hold, and whoever loads it has to give: names of handlers, `llm`. */
  needs: z.array(z.string()),
});
export type MemorySnapshot = z.infer<typeof snapshot>;

/** @throws {TypeError} where the options name no chat, or two */
export function mustNameChat({ key, chatId }: MemoryOptions): void {
  if ((key === undefined) === (chatId === undefined)) throw new TypeError('A memory needs either a key or a chatId.');
}

/** The options that say which chat it is, and nothing else of them. */
export const placeOf = (options: MemoryOptions): MemoryOptions =>
  Object.fromEntries(Object.entries(options).filter(([name, value]) => name in place && value !== undefined));

/** The chat that the options name. Making one again gives the one that there is. */
export async function chatOf(options: MemoryOptions, memory: MemoryKind): Promise<MemoryChat> {
  const { key, assistantId = 'bee', title = null } = options;
  const names = typeof key === 'string' ? [key] : (key ?? []);
  const bee: JsonObject = { memory, ...(key === undefined ? {} : { key: names }) };
  return { chatId: options.chatId ?? (await chatIdOf('bee', ...names)), assistantId, title, metadata: { bee } };
}
