import type { ChatSnapshot } from '../../index.js';

/** The words of a turn's answer, its messages parted by empty lines. */
export function answerText({ messages }: Pick<ChatSnapshot, 'messages'>, requestId: string): string {
  return messages
    .filter((message) => message.requestId === requestId && message.role === 'assistant' && message.type === 'text')
    .map(({ props: { content } }) => (typeof content === 'string' ? content : ''))
    .join('\n\n');
}
