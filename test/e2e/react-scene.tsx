import { cleanup, render, renderHook, type RenderResult } from '@testing-library/react';
import { StrictMode, type ReactNode } from 'react';
import { onTestFinished } from 'vitest';
import type { ChatClient, ChatClientOptions } from '../../client/index.js';
import { TurnstreamProvider } from '../../client/react/index.js';
import { Agent, type Run } from '../harness/agent.js';
import { clientOf } from '../harness/sdk.js';
import { startServer, type TestServer } from '../harness/server.js';
import { uid } from '../harness/peer.js';

export interface ReactScene {
  readonly url: string;
  readonly server: TestServer;
  readonly agent: Agent;
  /** The client under the hooks. */
  readonly client: ChatClient;
  /** Another person's client, who does things. */
  readonly other: ChatClient;
  readonly chatId: string;
  /** Starts a turn, by the other client, which the test answers. */
  readonly turn: (input?: string) => Promise<Run>;
  /** The chat with so many messages, this one's input included. */
  readonly fill: (count: number) => Promise<void>;
}

/** A server, an assistant in the test's hands, a chat, and two people of whom one looks at it through React. */
export async function reactScene(options: ChatClientOptions = {}): Promise<ReactScene> {
  const server = await startServer({ env: { COALESCE_MS: '0' } });
  const { url } = server;
  const agent = await new Agent(url, ['bot']).join();
  const other = clientOf(url, { auth: { userId: 'other', teamId: 't1' } });
  const client = clientOf(url, { auth: { userId: 'ann', teamId: 't1' }, autoConnect: false, ...options });
  const { chat } = await other.call('chat:create', { assistantId: 'bot', share: 'team' });
  const { chatId } = chat;
  const turn = async (input = 'go'): Promise<Run> => {
    const requestId = uid('turn');
    await other.call('turn:start', { chatId, input, requestId });
    return agent.run(requestId);
  };
  return {
    url,
    server,
    agent,
    client,
    other,
    chatId,
    turn,
    async fill(count) {
      const run = await turn();
      const op = (content: string) => ({ op: 'send', messageId: uid('m'), type: 'text', props: { content } }) as const;
      for (let done = 1; done < count; done += 1000) {
        const length = Math.min(1000, count - done);
        await run.push(...Array.from({ length }, (_, index) => op(`${done + index}`)));
      }
      await run.close();
    },
  };
}

/** Rendered under a provider, and taken away after the test. */
export function show(client: ChatClient, page: ReactNode, { strict = false } = {}): RenderResult {
  const wrapped = <TurnstreamProvider client={client}>{page}</TurnstreamProvider>;
  onTestFinished(cleanup);
  return render(strict ? <StrictMode>{wrapped}</StrictMode> : wrapped);
}

/** What a hook gives, at present and every time it rendered. */
export function hook<T>(
  client: ChatClient,
  use: () => T,
): { readonly now: () => T; readonly all: T[]; readonly unmount: () => void; readonly rerender: () => void } {
  const all: T[] = [];
  const wrapper = ({ children }: { children: ReactNode }): ReactNode => (
    <TurnstreamProvider client={client}>{children}</TurnstreamProvider>
  );
  onTestFinished(cleanup);
  const { result, unmount, rerender } = renderHook(
    () => {
      const value = use();
      all.push(value);
      return value;
    },
    { wrapper },
  );
  return { now: () => result.current, all, unmount, rerender: () => rerender() };
}

/** How often each component has rendered. */
export class Renders {
  readonly #counts = new Map<string, number>();

  count(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** What has rendered, since it was forgotten last. */
  get all(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  forget(): void {
    this.#counts.clear();
  }
}
