export { chatReading, whole, type Reading } from './dialogue.js';
export {
  inTurn,
  keepingSystem,
  lastMessages,
  selected,
  summarised,
  withinTokens,
  type MemoryPolicy,
  type SummaryOptions,
} from './policies.js';
