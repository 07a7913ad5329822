import { BaseMemory, MemoryFatalError } from 'beeai-framework/memory/base';
import { SummarizeMemoryTemplate } from 'beeai-framework/memory/summarizeMemory';
import {
  AssistantMessage,
  CustomMessage,
  Message,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from 'beeai-framework/backend/message';
import * as seedBase from 'bee-agent-framework/memory/base';
import * as seedSummarize from 'bee-agent-framework/memory/summarizeMemory';
import { BaseMessage } from 'bee-agent-framework/llms/primitives/message';
import { expect } from 'vitest';
import type { ChatCommands } from '../../protocol/index.js';
import { beeAgentFramework, beeaiFramework, createBeeMemories } from '../../stores/bee/index.js';
import { commandsOn, HOSTS as NAMES } from '../e2e/stores-hosts.js';
import { startServer, type ServerOptions, type TestServer } from '../harness/server.js';

/** Both generations of the framework, and both hosts: the same tests run on all four. */

const beeai = beeaiFramework({
  BaseMemory,
  MemoryFatalError,
  SummarizeMemoryTemplate,
  Message,
  UserMessage,
  AssistantMessage,
  SystemMessage,
  ToolMessage,
  CustomMessage,
});

const beeAgent = beeAgentFramework({
  BaseMemory: seedBase.BaseMemory,
  MemoryFatalError: seedBase.MemoryFatalError,
  SummarizeMemoryTemplate: seedSummarize.SummarizeMemoryTemplate,
  BaseMessage,
});

/** A model that counts by the length of texts, and sums up by joining them. */
export const stubModel = (say: (summary: string, line: string) => string = (summary, line) => `${summary}|${line}`) => {
  const asked: string[] = [];
  const answer = (messages: { text: string }[]) => {
    const summary = messages[0]!.text.split('Current summary:\n')[1] ?? '';
    const line = messages[1]!.text.split('\n')[1] ?? '';
    asked.push(summary);
    const text = say(summary, line);
    return { getTextContent: () => text };
  };
  return {
    asked,
    meta: async () => ({ tokenLimit: 20 }),
    tokenize: async (messages: { text: string }[]) => ({
      tokensCount: messages.reduce((sum, { text }) => sum + text.length, 0),
    }),
    generate: async (messages: { text: string }[]) => answer(messages),
    create: async ({ messages }: { messages: { text: string }[] }) => answer(messages),
  };
};

export const GENERATIONS = [
  {
    generation: 'beeai-framework',
    memoriesOf: (chats: ChatCommands) => createBeeMemories(beeai, chats) as any,
    message: (role: string, text: string, meta?: object) => Message.of({ role, text, meta } as any) as any,
    MemoryFatalError: MemoryFatalError as any,
    BaseMemory: BaseMemory as any,
  },
  {
    generation: 'bee-agent-framework',
    memoriesOf: (chats: ChatCommands) => createBeeMemories(beeAgent, chats) as any,
    message: (role: string, text: string, meta?: object) => BaseMessage.of({ role, text, meta } as any) as any,
    MemoryFatalError: seedBase.MemoryFatalError as any,
    BaseMemory: seedBase.BaseMemory as any,
  },
] as const;

export const HOSTS = NAMES.map((host) => ({ host, commandsOf: (server: TestServer) => commandsOn(host, server) }));

export const EVERYWHERE = GENERATIONS.flatMap((generation) => HOSTS.map((host) => ({ ...generation, ...host })));

/** A server, the memories of a caller, and what the chat says. */
export async function stage(
  { memoriesOf, message, commandsOf }: (typeof EVERYWHERE)[number],
  options: ServerOptions = {},
) {
  const server = await startServer(options);
  const chats = commandsOf(server);
  const user = (text: string) => message('user', text);
  const texts = (memory: any): string[] => memory.messages.map(({ text }: { text: string }) => text);
  /** What another reader of the chat sees once everything is written, in the memory's order: a memory of its own. */
  const reread = async (Memory: any, options: object) => texts(await Memory.open(options));
  const rows = async (chatId: string) => (await chats.call('message:list', { chatId, limit: 200 })).messages;
  return { server, chats, memories: memoriesOf(chats), user, message, texts, reread, rows };
}

/** The memory holds these texts, here and in the chat. */
export async function expectHolds(memory: any, expected: readonly string[]): Promise<void> {
  const texts = () => memory.messages.map(({ text }: { text: string }) => text);
  expect(texts()).toEqual(expected);
  await memory.flushed();
  await memory.refresh();
  expect(texts(), 'in the chat').toEqual(expected);
}
