export { attachAgent, type Agent, type AgentOptions, type AgentState, type CloseOptions, type OpenedTurn, type OpenTurnArgs } from './agent.js';
export type { SinkBounds } from './frame-sink.js';
export type { FrameEnding } from './held-frame.js';
export { defineAssistant, type Assistant, type Context, type MessageDraft } from '../../assistant/index.js';
export { ChatError } from '../../protocol/index.js';
