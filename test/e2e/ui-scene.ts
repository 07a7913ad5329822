import { defineAssistant, type Assistant, type Context } from '../../assistant/index.js';
import type { UiMajor, UiMessage } from '../../protocol/ai-sdk/index.js';
import { uid, type As } from '../harness/peer.js';
import { startServer, type ServerOptions } from '../harness/server.js';
import { headersOf } from './request-as.js';

/** A text that a test lets go on: the assistant waits for it. */
export interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

export function gate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** What was asked, as one text. */
export const askedOf = ({ input }: Context): string =>
  input.map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : '')).join(' ');

/** Says it word by word. */
export async function speak(ctx: Context, text: string, type = 'text'): Promise<void> {
  const id = await ctx.send({ type, props: { content: '' } });
  for (const word of text.split(/(?<= )/)) await ctx.append(id, word);
  await ctx.end(id);
}

/** One tool call, as pipelines show it. */
export async function callTool(ctx: Context, toolCallId: string, output: string): Promise<void> {
  const props = { toolCallId, tool: 'weather', input: { city: 'Oslo' }, state: 'running' };
  const id = await ctx.send({ type: 'tool_call', props });
  await ctx.merge(id, { state: 'completed', output });
  await ctx.end(id);
}

/** An endpoint of the AI SDK, and a chat id that nobody has used. */
export interface UiScene {
  readonly url: string;
  readonly api: string;
  readonly chatId: string;
  /** A request of somebody, with a body or without. */
  request(method: string, path: string, body?: unknown, more?: Record<string, string>): Promise<Response>;
  /** The conversation as `useChat` takes it. */
  history(major?: UiMajor): Promise<UiMessage[]>;
  get<T>(path: string): Promise<T>;
}

export async function uiScene(
  run: Assistant['run'],
  { as = {}, ...options }: ServerOptions & { readonly as?: As } = {},
): Promise<UiScene> {
  const assistants = [defineAssistant({ assistantId: 'bot', run })];
  const { url } = await startServer({ assistants, ...options, env: { COALESCE_MS: '0', ...options.env } });
  return sceneAt(url, as);
}

export function sceneAt(url: string, as: As = {}): UiScene {
  const chatId = uid('chat');
  const request: UiScene['request'] = (method, path, body, more = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { ...headersOf(as), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const get = async <T>(path: string): Promise<T> => {
    const response = await request('GET', path);
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as T;
  };
  return {
    url,
    api: `${url}/v1/ai-sdk/chat`,
    chatId,
    request,
    get,
    history: async (major = 7) => {
      const path = `/v1/ai-sdk/chat/${chatId}/messages?ai-sdk=${major}`;
      return (await get<{ messages: UiMessage[] }>(path)).messages;
    },
  };
}
