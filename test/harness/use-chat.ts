import './page.js';
import { cleanup, renderHook } from '@testing-library/react';
import * as sevenReact from '@ai-sdk/react';
import * as seven from 'ai';
import * as five from 'ai-5';
import * as six from 'ai-6';
import * as fiveReact from 'ai-sdk-react-5';
import * as sixReact from 'ai-sdk-react-6';
import { onTestFinished } from 'vitest';
import type { UiMajor, UiMessage } from '../../protocol/ai-sdk/index.js';
import { until } from './until.js';

/** What of `useChat` all majors have. */
export interface Hook {
  readonly messages: readonly UiMessage[];
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error';
  readonly error: Error | undefined;
  sendMessage(message: object): Promise<void>;
  regenerate(options?: { messageId?: string }): Promise<void>;
  stop(): Promise<void>;
  resumeStream(): Promise<void>;
}

interface Sdk {
  readonly DefaultChatTransport: new (options: object) => object;
  readonly Chat: new (options: object) => object;
  readonly useChat: (options: object) => Hook;
}

const sdks = {
  5: { ...fiveReact, DefaultChatTransport: five.DefaultChatTransport },
  6: { ...sixReact, DefaultChatTransport: six.DefaultChatTransport },
  7: { ...sevenReact, DefaultChatTransport: seven.DefaultChatTransport },
} as unknown as Readonly<Record<UiMajor, Sdk>>;

/** Node's `fetch`, with the error that a browser gives for a body that was cut: by it the SDK knows a lost network. */
export const browserFetch: typeof fetch = async (...asked) => {
  const response = await fetch(...asked);
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        const isAbort = error instanceof Error && error.name === 'AbortError';
        controller.error(isAbort ? error : new TypeError('network error', { cause: error }));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
};

export interface TabOptions {
  readonly major: UiMajor;
  readonly api: string;
  readonly chatId: string;
  readonly messages?: readonly UiMessage[];
  readonly resume?: boolean;
  readonly headers?: Record<string, string>;
  readonly transport?: object;
  readonly onData?: (part: unknown) => void;
}

/** A page with a stock `useChat`. */
export interface Tab {
  readonly now: Hook;
  /** All that it has shown, in order. */
  readonly seen: Hook[];
  becomes(isSo: (hook: Hook) => boolean, what: string): Promise<Hook>;
  close(): void;
}

export function openTab({ major, api, chatId, messages = [], resume = false, headers = {}, ...more }: TabOptions): Tab {
  const { DefaultChatTransport, Chat, useChat } = sdks[major];
  const version = major === 7 ? {} : { 'x-ai-sdk-version': String(major) };
  const transport =
    more.transport ?? new DefaultChatTransport({ api, headers: { ...version, ...headers }, fetch: browserFetch });
  const onData = more.onData ? { onData: more.onData } : {};
  // As the guide says: a transport that is given to the hook of major 6 loses what it says of itself.
  const chat = new Chat({ id: chatId, transport, messages: structuredClone(messages), ...onData });
  const seen: Hook[] = [];
  const { result, unmount } = renderHook(() => {
    const hook = useChat({ chat, resume });
    seen.push(hook);
    return hook;
  });
  onTestFinished(cleanup);
  return {
    get now() {
      return result.current;
    },
    seen,
    becomes: async (isSo, what) => {
      const known = result.current.error;
      const failed = (): boolean => {
        const { status, error } = result.current;
        return status === 'error' && error !== known && !isSo(result.current);
      };
      await until(() => failed() || isSo(result.current), what);
      if (failed())
        throw new Error(`${what}: not so, but ${String(result.current.error)}`, { cause: result.current.error });
      return result.current;
    },
    close: unmount,
  };
}

export const textsIn = (message: UiMessage | undefined): string =>
  (message?.parts ?? [])
    .map((part) => (typeof part['text'] === 'string' && part['type'] === 'text' ? part['text'] : ''))
    .join('');

export const lastOf = ({ messages }: Pick<Hook, 'messages'>): UiMessage | undefined => messages.at(-1);
