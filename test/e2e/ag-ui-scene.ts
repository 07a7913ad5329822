import {
  HttpAgent,
  runHttpRequest,
  transformHttpEventStream,
  type Message as ClientMessage,
  type RunAgentInput,
} from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { expect, vi } from 'vitest';
import { agUiMessages, type AgUiEvent } from '../../protocol/ag-ui/index.js';
import type { Message } from '../../protocol/index.js';
import { Agent, type Run } from '../harness/agent.js';
import { httpHistory } from '../harness/consistent.js';
import { uid, type As } from '../harness/peer.js';
import { startServer, type ServerOptions, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { headersOf } from './request-as.js';

export interface ClientOptions {
  readonly threadId: string;
  /** The path behind `/v1/ag-ui`. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly as?: As;
}

/** The stock HttpAgent, with the two methods that the guide gives it: it joins a run again, and stops one. */
export class ThreadClient extends HttpAgent {
  /** Every event that it was told, oldest first. */
  readonly seen: AgUiEvent[] = [];

  constructor(server: string, { threadId, path = '/bot', headers = {}, as = {} }: ClientOptions) {
    super({ url: `${server}/v1/ag-ui${path}`, threadId, headers: { ...headersOf(as), ...headers } });
    this.subscribe({
      onEvent: ({ event }) => {
        expect(EventSchemas.safeParse(event).error).toBeUndefined();
        this.seen.push(event as unknown as AgUiEvent);
      },
    });
  }

  protected override connect(input: RunAgentInput): ReturnType<HttpAgent['run']> {
    this.abortController = new AbortController();
    return transformHttpEventStream(runHttpRequest(() => fetch(`${this.url}/connect`, this.requestInit(input))));
  }

  async stop(runId?: string): Promise<Response> {
    const body = JSON.stringify({ threadId: this.threadId, ...(runId === undefined ? {} : { runId }) });
    const headers = { ...this.headers, 'content-type': 'application/json' };
    return fetch(`${this.url}/stop`, { method: 'POST', headers, body });
  }

  /** Says something and hears the run to its end. @returns the run's id */
  async ask(text: string, more: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<string> {
    const runId = more.runId ?? uid('run');
    this.addMessage({ id: uid('said'), role: 'user', content: text });
    await this.runAgent({ ...more, runId });
    return runId;
  }

  get types(): string[] {
    return this.seen.map(({ type }) => type);
  }

  /** Once it was told such an event. */
  hears(type: AgUiEvent['type'], times = 1): Promise<unknown> {
    return until(() => this.types.filter((told) => told === type).length >= times, `${times} ${type}`);
  }

  get last(): AgUiEvent | undefined {
    return this.seen.at(-1);
  }
}

export interface AgUiScene {
  readonly server: TestServer;
  readonly url: string;
  readonly agent: Agent;
  readonly threadId: string;
  readonly client: (more?: Partial<ClientOptions> & { readonly url?: string }) => ThreadClient;
  /** The agent's hold on a run. */
  readonly held: (runId: string) => Promise<Run>;
  readonly history: () => Promise<Message[]>;
  /** What a client has to hold when all is over. */
  readonly conversation: () => Promise<ClientMessage[]>;
}

export async function agUiScene(options: ServerOptions = {}): Promise<AgUiScene> {
  const server = await startServer({ ...options, env: { COALESCE_MS: '0', ...options.env } });
  const agent = await new Agent(server.url, ['bot'], { concurrency: 100 }).join();
  const threadId = uid('thread');
  const history = (): Promise<Message[]> => httpHistory(server.url, threadId);
  return {
    server,
    url: server.url,
    agent,
    threadId,
    client: ({ url = server.url, ...more } = {}) => new ThreadClient(url, { threadId, ...more }),
    held: (runId) => agent.run(runId),
    history,
    conversation: async () => agUiMessages(await history()) as ClientMessage[],
  };
}

/** The stock client tells of each failure on the console. */
export const hushed = () => vi.spyOn(console, 'error').mockImplementation(() => undefined);

/**
 * When its connection is cut, the stock client leaves one rejection of its own unhandled, beside the one that it gives its
 * caller. Nothing else may be.
 */
export function toleratingCuts(): Disposable {
  const others = process.listeners('unhandledRejection');
  const tolerate = (reason: unknown): void => {
    if (!(reason instanceof TypeError) || reason.message !== 'terminated') throw reason;
  };
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', tolerate);
  return {
    [Symbol.dispose]() {
      process.off('unhandledRejection', tolerate);
      for (const listener of others) process.on('unhandledRejection', listener);
    },
  };
}
