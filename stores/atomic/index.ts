export { BaseChatHistory, type HistoryMessage, type WireMessage } from './base-chat-history.js';
export { ChatHistory, type ChatHistoryOptions, type HistoryParts } from './chat-history.js';
export { Audio, audio, Image, image, PDF, pdf, video, VideoURL } from './media.js';
export { SchemaInstance, SchemaRegistry, type ContentSchema } from './schema-registry.js';
export { ValidationError, ValueError } from './value-error.js';
