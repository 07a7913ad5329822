import type { Assistant } from '../../assistant/index.js';
import { isEnded, type InputMessage, type Message, type Step, type Turn } from '../../protocol/index.js';
import { becomes } from '../harness/becomes.js';
import { agentOf, clientOf, messagesOf, opened, textOf } from '../harness/sdk.js';
import { startServer, type ServerOptions } from '../harness/server.js';

/** A chat whose assistants run where the host says. */
export interface AssistantScene {
  readonly url: string;
  readonly chatId: string;
  start(
    assistantId: string,
    input: string | InputMessage[],
    metadata?: Turn['metadata'],
  ): Promise<{ readonly requestId: string; readonly turn: Promise<Turn> }>;
  /** Starts a turn and waits for its end. */
  ask(assistantId: string, input: string | InputMessage[]): Promise<Turn>;
  stop(requestId: string): Promise<Turn>;
  /** Resumes a turn and waits for the end of that attempt. */
  resume(requestId: string): Promise<Turn>;
  /** Waits until the follower sees this text: all assistant messages of the chat, joined. */
  shows(text: string): Promise<void>;
  steps(requestId: string): Promise<Step[]>;
  /** The turn's stored answers, in order. */
  messages(requestId: string): Promise<Message[]>;
  /** Their texts. */
  answers(requestId: string): Promise<string[]>;
  get<T>(path: string): Promise<T>;
}

export type Host = (assistants: readonly Assistant[], options?: ServerOptions) => Promise<AssistantScene>;

async function inProcess(assistants: readonly Assistant[], options: ServerOptions = {}): Promise<AssistantScene> {
  return sceneOn((await startServer({ assistants, ...options })).url);
}

async function remote(assistants: readonly Assistant[], options: ServerOptions = {}): Promise<AssistantScene> {
  const { url } = await startServer(options);
  await agentOf(url, assistants, { auth: { userId: 'agent', roles: ['agent'] }, concurrency: 100 });
  return sceneOn(url);
}

/** Every other assistant in the server, the rest in an agent: calls go over the border. */
async function mixed(assistants: readonly Assistant[], options: ServerOptions = {}): Promise<AssistantScene> {
  const { url } = await startServer({ assistants: assistants.filter((_, index) => index % 2 === 0), ...options });
  const others = assistants.filter((_, index) => index % 2 === 1);
  if (others.length > 0) await agentOf(url, others, { auth: { userId: 'agent', roles: ['agent'] }, concurrency: 100 });
  return sceneOn(url);
}

/** Where an assistant that was written once may run. */
export const hosts: readonly { readonly name: string; readonly host: Host }[] = [
  { name: 'in-process', host: inProcess },
  { name: 'a remote agent', host: remote },
  { name: 'both', host: mixed },
];

/** A chat on a server, with one who follows it. */
export async function sceneOn(url: string): Promise<AssistantScene> {
  const client = clientOf(url);
  const { chatId } = (await client.call('chat:create', { assistantId: 'echo' })).chat;
  const chat = await opened(client, chatId);
  const ended = async (requestId: string, attempt: number): Promise<Turn> => {
    const isOver = (turn: Turn | undefined): boolean => turn?.attempt === attempt && isEnded(turn.status);
    const { turns } = await becomes(chat.view, (view) => isOver(view.turns.get(requestId)));
    return turns.get(requestId) as Turn;
  };
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}${path}`);
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as T;
  };
  const messages = async (requestId: string): Promise<Message[]> => {
    const { messages } = await get<{ messages: Message[] }>(
      `/v1/chats/${chatId}/messages?requestId=${requestId}&limit=200`,
    );
    return messages.filter(({ role }) => role === 'assistant');
  };
  const start: AssistantScene['start'] = async (assistantId, input, metadata) => {
    const { turn } = await client.call('turn:start', {
      chatId,
      assistantId,
      input,
      ...(metadata === undefined ? {} : { metadata }),
    });
    return { requestId: turn.requestId, turn: ended(turn.requestId, 1) };
  };
  return {
    url,
    chatId,
    start,
    ask: async (assistantId, input) => (await start(assistantId, input)).turn,
    stop: async (requestId) => (await client.call('turn:stop', { chatId, requestId })).turn,
    resume: async (requestId) => {
      const { turn } = await client.call('turn:resume', { chatId, requestId });
      return ended(requestId, turn.attempt);
    },
    shows: async (text) => {
      const shown = (): string =>
        messagesOf(chat)
          .filter(({ role }) => role === 'assistant')
          .map(textOf)
          .join('');
      await becomes(chat.view, () => shown() === text);
    },
    steps: async (requestId) => (await client.call('step:list', { requestId })).steps,
    messages,
    answers: async (requestId) => (await messages(requestId)).map(textOf),
    get,
  };
}
