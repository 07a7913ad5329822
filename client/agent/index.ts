export { attachAgent } from './agent.js';
export type {
  Agent,
  AgentOptions,
  AgentState,
  CloseOptions,
  FailedRun,
  OpenedTurn,
  OpenTurnArgs,
} from './agent-options.js';
export type { SinkBounds } from './frame-sink.js';
export type { FrameEnding } from './held-frame.js';
export {
  AssistantError,
  defineAssistant,
  tool,
  type Assistant,
  type Context,
  type MessageDraft,
} from '../../assistant/index.js';
export { ChatError } from '../../protocol/index.js';
