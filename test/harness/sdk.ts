import { expect, onTestFinished } from 'vitest';
import type { Assistant } from '../../assistant/index.js';
import { attachAgent, type Agent, type AgentOptions } from '../../client/agent/index.js';
import { systemClock, type Clock } from '../../client/clock.js';
import { createChatClient, type Chat, type ChatClient, type ChatClientOptions } from '../../client/index.js';
import { isEnded, type Message, type Turn } from '../../protocol/index.js';
import { becomes } from './becomes.js';
import { httpHistory, plain } from './consistent.js';
import { uid } from './peer.js';
import { until } from './until.js';

/** Waits are short where a test has to wait for them. */
const QUICK = { backoff: { minMs: 5, maxMs: 50 } };

/** The client SDK, which is closed after the test. */
export function clientOf(url: string, options: ChatClientOptions = {}): ChatClient {
  const client = createChatClient({ ...QUICK, url, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The agent SDK, attached; it is closed after the test. */
export async function agentOf(
  url: string,
  assistants: readonly Assistant[],
  options: Partial<AgentOptions> = {},
): Promise<Agent> {
  const quiet = { onError: () => undefined };
  const agent = attachAgent({ ...QUICK, ...quiet, url, agentId: uid('agent'), assistants, ...options });
  onTestFinished(() => agent.close({ drain: false }));
  await becomes(agent.state, ({ attached }) => attached);
  return agent;
}

/** A clock on which time goes ten times as fast: for waits that a test cannot choose. */
export const hasty: Clock = {
  now: () => systemClock.now(),
  after: (ms, callback) => systemClock.after(ms / 10, callback),
};

export const messagesOf = (chat: Chat): readonly Message[] => chat.view.getSnapshot().messages;

export const textOf = ({ props }: Message): string => (typeof props['content'] === 'string' ? props['content'] : '');

/** The text of a turn's answer as the client shows it. */
export function answerIn(chat: Chat, requestId: string): string {
  const isAnswer = (message: Message): boolean => message.requestId === requestId && message.role === 'assistant';
  return messagesOf(chat).filter(isAnswer).map(textOf).join('');
}

/** Follows a chat until the test is over. */
export async function opened(client: ChatClient, chatId: string): Promise<Chat> {
  const chat = client.chat(chatId);
  chat.open();
  await becomes(chat.view, ({ status }) => status === 'live');
  return chat;
}

/** The turn as the client shows it, once it has ended. */
export async function endOf(chat: Chat, requestId: string, attempt = 1): Promise<Turn> {
  const isOver = (turn: Turn | undefined): boolean => turn?.attempt === attempt && isEnded(turn.status);
  const { turns } = await becomes(chat.view, ({ turns }) => isOver(turns.get(requestId)));
  return turns.get(requestId) as Turn;
}

/** DAT-4: all of these show the same, and the HTTP history is it. Gives the history. */
export async function expectSameViews(url: string, ...chats: readonly Chat[]): Promise<Message[]> {
  const offsets = (): (number | undefined)[] => chats.map(({ view }) => view.getSnapshot().position?.offset);
  await until(() => new Set(offsets()).size === 1, 'the same position everywhere');
  const history = await httpHistory(url, chats[0]?.chatId ?? '');
  for (const chat of chats) {
    const { status, messages, pending, turns } = chat.view.getSnapshot();
    expect(status).toBe('live');
    expect(pending).toEqual([]);
    expect(messages.map(plain), 'DAT-4: view = history').toEqual(history.map(plain));
    for (const [requestId, turn] of turns)
      expect(turn).toEqual(chats[0]?.view.getSnapshot().turns.get(requestId) ?? turn);
  }
  return history;
}
