import type { ChatCommands } from '../../protocol/index.js';
import type { BeeFramework, BeeMessage } from './framework.js';
import type { MemoryOptions, MemorySnapshot } from './options.js';
import { slidingMemory, type SlidingOptions } from './sliding-memory.js';
import type { MemoryPorts } from './stored-memory.js';
import { summarizeMemory, type SummarizeOptions } from './summarize-memory.js';
import { tokenMemory, type TokenOptions } from './token-memory.js';
import { unconstrainedMemory } from './unconstrained-memory.js';

/** What each memory has beside what the framework's own has. */
export interface BeeMemory<M extends BeeMessage> {
  readonly messages: readonly M[];
  ready(): Promise<void>;
  refresh(): Promise<void>;
  flushed(): Promise<void>;
  createSnapshot(): MemorySnapshot;
  loadSnapshot(state: unknown): Promise<void>;
}

export interface TokenCounts {
  readonly tokensUsed: number;
  /** Whether some of it is a guess. */
  readonly isDirty: boolean;
  stats(): { tokensUsed: number; maxTokens: number | null; messagesCount: number; isDirty: boolean };
  /** Counts what is guessed. @throws {MemoryFatalError} for a message that cannot fit: all stay */
  sync(): Promise<void>;
}

/** `T` is what an instance is: the framework's own BaseMemory and what is ours. */
export interface MemoryClass<T, O> {
  /** The messages come later: see `ready`. */
  new (options: O): T;
  /** A memory whose messages have been read. @throws {ChatError} */
  open(options: O): Promise<T>;
}

export interface BeeMemories<M extends BeeMessage, B extends object, L> {
  readonly UnconstrainedMemory: MemoryClass<B & BeeMemory<M>, MemoryOptions>;
  readonly SlidingMemory: MemoryClass<B & BeeMemory<M>, SlidingOptions<M>>;
  readonly TokenMemory: MemoryClass<B & BeeMemory<M> & TokenCounts, TokenOptions<M, L>>;
  readonly SummarizeMemory: MemoryClass<B & BeeMemory<M>, SummarizeOptions<L>>;
}

/**
 * The framework's memories, kept in chats: one chat per memory, one message per message.
 *
 * @param chats whose memories they are: `Turnstream.as` within the process, a `ChatClient` over the network
 */
export function createBeeMemories<M extends BeeMessage, B extends object, L>(
  framework: BeeFramework<M, B, L>,
  chats: ChatCommands,
  { newId = () => crypto.randomUUID() }: { readonly newId?: () => string } = {},
): BeeMemories<M, B, L> {
  const ports: MemoryPorts<M, B, L> = { framework, chats, newId };
  const classes = {
    UnconstrainedMemory: unconstrainedMemory(ports),
    SlidingMemory: slidingMemory(ports),
    TokenMemory: tokenMemory(ports),
    SummarizeMemory: summarizeMemory(ports),
  };
  // Where a bigger snapshot names one, an agent's for instance, the framework has to know its class.
  for (const Class of Object.values(classes)) (Class as { register?: () => void }).register?.();
  // The classes extend BaseMemory, whose members their types leave out.
  return classes as unknown as BeeMemories<M, B, L>;
}
