import type { Assistant } from '../../assistant/index.js';
import { defineAssistant } from '../../assistant/index.js';
import type { UiChunk } from '../../protocol/ai-sdk/index.js';
import { speak, type UiScene } from './ui-scene.js';

export const question = (text: string, id = 'question-0001'): object => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

export const ask = (scene: UiScene, body: object, more: Record<string, string> = {}): Promise<Response> =>
  scene.request('POST', '/v1/ai-sdk/chat', { id: scene.chatId, messages: [question('hi')], ...body }, more);

/** What came, whole or cut: chunks, and the frames that are none. */
export async function chunksOf(response: Response): Promise<{ chunks: UiChunk[]; rest: string[] }> {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
  const isChunk = (frame: string): boolean => frame.startsWith('data: {');
  return {
    chunks: frames.filter(isChunk).map((frame) => JSON.parse(frame.slice('data: '.length)) as UiChunk),
    rest: frames.filter((frame) => !isChunk(frame)),
  };
}

export const ends = (chunks: readonly UiChunk[]): UiChunk[] =>
  chunks.filter(({ type }) => type === 'finish' || type === 'abort' || type === 'error');

export const hello: Assistant['run'] = (ctx) => speak(ctx, 'Hello');
export const bot = (run: Assistant['run']): Assistant => defineAssistant({ assistantId: 'bot', run });
