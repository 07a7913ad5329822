import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import {
  askTurn,
  CURRENT_MAJOR,
  historyOf,
  readUiRequest,
  turnToFollow,
  type UiMajor,
} from '../../protocol/ai-sdk/index.js';
import { ChatError, type ArgsInput, type ChatCommands, type Turn } from '../../protocol/index.js';
import type { ChatClient } from '../chat-client.js';
import type { Chat } from '../chat.js';
import { systemClock, type Clock } from '../clock.js';
import { answerStream } from './answer-source.js';
import { settled } from './settled.js';

export interface ChatTransportOptions {
  /** Who answers in a chat that comes into being with its first question; else the chat's own assistant does. */
  readonly assistantId?: string;
  /** The major of the AI SDK on the page. Default 7. */
  readonly major?: UiMajor;
  /**
   * Whether `stop()` of `useChat` stops the turn. Default true: here, unlike over HTTP, nothing else aborts a request. With
   * false it stops listening only.
   */
  readonly abortStops?: boolean;
  readonly clock?: Clock;
}

/** A `ChatTransport` of the AI SDK, and what it has no word for. */
export interface TurnstreamTransport<M extends UIMessage = UIMessage> extends ChatTransport<M> {
  /** Stops the answer that is being given in a chat, for everybody. */
  stop(chatId: string): Promise<void>;
  /** The newest messages of a chat, for `messages` of `useChat`. @throws {ChatError} `not_found` */
  history(chatId: string): Promise<M[]>;
}

/**
 * A transport for `useChat` over the client's connection. An answer goes on over reconnections: the page sees no error, and
 * loses nothing.
 */
export function createChatTransport<M extends UIMessage = UIMessage>(
  client: ChatClient,
  options: ChatTransportOptions = {},
): TurnstreamTransport<M> {
  const { assistantId, major = CURRENT_MAJOR, abortStops = true, clock = systemClock } = options;

  const stop = async (chatId: string, requestId?: string): Promise<void> => {
    try {
      await client.call('turn:stop', { chatId, ...(requestId === undefined ? {} : { requestId }) });
    } catch (error) {
      if (!(error instanceof ChatError) || error.code !== 'not_found') throw error;
    }
  };

  function follow(chat: Chat, turn: Turn, signal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    const aborted = (): void => {
      if (abortStops) stop(chat.chatId, turn.requestId).catch(() => undefined);
    };
    // The chunks are a part of those that the AI SDK declares, in words of our own.
    return answerStream({ client, chat, turn, major, signal, aborted }) as ReadableStream<UIMessageChunk>;
  }

  return {
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, trigger, messageId, abortSignal, body }) {
      const request = readUiRequest({
        ...body,
        id: chatId,
        messages,
        trigger,
        messageId,
      });
      const chat = client.chat(chatId);
      // Named before it is sent: what is sent again after a cut is the same.
      const turn = await askTurn(commandsOf(client, chat), request, {
        newId: () => client.newId(),
        defaultAssistantId: assistantId,
      });
      return follow(chat, turn, abortSignal);
    },

    async reconnectToStream({ chatId, abortSignal }) {
      const chat = client.chat(chatId);
      chat.open();
      try {
        const snapshot = await settled(chat, abortSignal);
        if (snapshot.status === 'ended' && snapshot.reason === 'not_found') return null;
        if (snapshot.status === 'ended') throw snapshot.error ?? new ChatError('not_found');
        const turn = turnToFollow([...snapshot.turns.values()], clock.now());
        return turn && follow(chat, turn, abortSignal);
      } finally {
        chat.close();
      }
    },

    stop: (chatId) => stop(chatId),

    history: async (chatId) => {
      const { messages } = await historyOf(commandsOf(client, client.chat(chatId)), { chatId, limit: 200 }, major);
      // The same: what the AI SDK reads from a stream, in words of our own.
      return messages as unknown as M[];
    },
  };
}

/** The table of commands; a start goes through the chat, which others show. */
function commandsOf(client: ChatClient, chat: Chat): ChatCommands {
  return {
    async call(name, args) {
      if (name !== 'turn:start') return client.call(name, args);
      const { input, regenerate: _, chatId: _chatId, ...said } = args as ArgsInput<'turn:start'>;
      if (input === undefined) return client.call(name, args);
      try {
        return (await chat.start(input, said)) as never;
      } catch (error) {
        // `useChat` shows it as refused.
        if (said.requestId !== undefined) chat.dismiss(said.requestId);
        throw error;
      }
    },
  };
}
