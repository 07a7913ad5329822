import * as current from 'ai';
import * as five from 'ai-5';
import * as six from 'ai-6';
import type { UiChunk, UiMajor } from '../../protocol/ai-sdk/index.js';

/** A UI message as the AI SDK's own reader leaves it. */
export interface ReadMessage {
  readonly id: string;
  readonly role: string;
  readonly metadata?: { readonly turnstream?: { readonly replaced?: readonly number[] } };
  readonly parts: readonly Record<string, unknown>[];
}

interface Sdk {
  readonly DefaultChatTransport: new (options: { fetch: typeof fetch }) => {
    sendMessages(options: never): Promise<ReadableStream<never>>;
  };
  readonly readUIMessageStream: (options: {
    stream: ReadableStream<never>;
    onError: (error: unknown) => void;
  }) => AsyncIterable<unknown>;
}

const sdks = { 5: five, 6: six, 7: current } as unknown as Readonly<Record<UiMajor, Sdk>>;

const textOfChunks = (chunks: readonly UiChunk[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

/**
 * What a client of this major holds after these chunks: through its own transport, which checks each against its schema, and
 * its own reader. @returns null where there is no message; `errors` that the stream told of or that its reading led to
 */
export async function readChunks(
  major: UiMajor,
  chunks: readonly UiChunk[],
): Promise<{ message: ReadMessage | null; errors: string[] }> {
  const { DefaultChatTransport, readUIMessageStream } = sdks[major];
  const transport = new DefaultChatTransport({ fetch: async () => new Response(textOfChunks(chunks)) });
  const asked = { trigger: 'submit-message', chatId: 'c', messageId: undefined, messages: [], abortSignal: undefined };
  const errors: string[] = [];
  const onError = (error: unknown): void => void errors.push(error instanceof Error ? error.message : String(error));
  let message: unknown = null;
  const stream = await transport.sendMessages(asked as never);
  for await (const read of readUIMessageStream({ stream, onError })) message = read;
  return { message: JSON.parse(JSON.stringify(message)) as ReadMessage | null, errors };
}

/** The message without the parts that its stream says it has replaced, and without a word of them. */
export function withoutReplaced(message: ReadMessage | null): ReadMessage | null {
  if (!message) return null;
  const { replaced = [], ...turnstream } = message.metadata?.turnstream ?? {};
  return {
    ...message,
    metadata: { ...message.metadata, turnstream },
    parts: message.parts.filter((_, index) => !replaced.includes(index)),
  };
}
