import { defineAssistant, type Assistant } from './assistant.js';
import { openAiModel, type OpenAiChat } from './model/openai-chat.js';

/** The assistant `chat`: a model on any server that speaks OpenAI's chat API, and nothing else. */
export const createChat = (options: OpenAiChat): Assistant =>
  defineAssistant({ assistantId: 'chat', name: 'Chat', model: openAiModel(options) });
