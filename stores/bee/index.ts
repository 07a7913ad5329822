export { beeAgentFramework, type BeeAgentClasses } from './bee-agent-framework.js';
export { beeaiFramework, type BeeaiClasses } from './beeai-framework.js';
export {
  createBeeMemories,
  type BeeMemories,
  type BeeMemory,
  type MemoryClass,
  type TokenCounts,
} from './create-bee-memories.js';
export type { BeeFramework, BeeMessage, PlainMessage } from './framework.js';
export type { MemoryOptions, MemorySnapshot } from './options.js';
export type { SlidingOptions } from './sliding-memory.js';
export type { SummarizeOptions } from './summarize-memory.js';
export type { TokenOptions } from './token-memory.js';
