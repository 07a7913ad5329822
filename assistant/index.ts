export { defineAssistant, type Assistant } from './assistant.js';
export type { Context, MessageDraft, Sink } from './context.js';
