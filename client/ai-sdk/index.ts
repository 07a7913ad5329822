export { createChatTransport, type ChatTransportOptions, type TurnstreamTransport } from './chat-transport.js';
export type { UiMajor, UiMessage } from '../../protocol/ai-sdk/index.js';
