import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineAssistant } from '../../../assistant/index.js';
import { attachAgent, type AgentOptions } from '../../../client/agent/index.js';
import { ChatError } from '../../../protocol/index.js';

const model = new MockLanguageModelV4();
const tool = { inputSchema: z.object({}), execute: () => null };

/** The field that a refusal names. */
function refused(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (error instanceof ChatError && error.code === 'bad_request') return error.details['path'];
    throw error;
  }
  return 'was not refused';
}

describe('defineAssistant', () => {
  it.each<[string, Record<string, unknown>]>([
    ['assistantId', { assistantId: 'a b', model }],
    ['name', { name: '', model }],
    ['run', {}],
    ['run', { run: 'hello' }],
    ['', { run: () => null, model }],
    ['', { run: () => null, tools: {} }],
    ['', { model, instruction: 'Be kind.' }],
    ['model', { model: 'gpt-5' }],
    ['instructions', { model, instructions: 5 }],
    ['instructions', { next: () => null, instructions: 'Be kind.' }],
    ['tools', { create: () => null, tools: { tool } }],
    ['tools.a b', { model, tools: { 'a b': tool } }],
    ['tools.tool.execute', { model, tools: { tool: { ...tool, execute: 1 } } }],
    ['tools.tool.retry', { model, tools: { tool: { ...tool, retry: 3 } } }],
    ['tools.tool.timeoutMs', { model, tools: { tool: { ...tool, timeoutMs: '5' } } }],
    ['tools.tool.onError', { model, tools: { tool: { ...tool, onError: 'ignore' } } }],
    ['retry.attempts', { model, retry: { attempts: 0 } }],
    ['maxSteps', { model, maxSteps: 0 }],
    ['timeoutMs', { model, timeoutMs: -1 }],
  ])('refuses a wrong %s: %o', (path, definition) => {
    expect(refused(() => defineAssistant({ assistantId: 'bot', ...definition }))).toBe(path);
  });

  it('takes what is there and leaves out what is undefined', () => {
    const next = undefined as never;
    expect(defineAssistant({ assistantId: 'bot', model, next, tools: { tool } })).toMatchObject({ name: 'bot' });
    expect(defineAssistant({ assistantId: 'bot', name: 'Bot', run: () => null, model: undefined as never }).name).toBe(
      'Bot',
    );
  });
});

describe('attachAgent', () => {
  const bot = defineAssistant({ assistantId: 'bot', run: () => null });
  it.each<[string, object]>([
    ['agentId', { agentId: '' }],
    ['url', { url: 'localhost:3000' }],
    ['concurrency', { concurrency: 0 }],
    ['assistants', { assistants: [] }],
    ['assistants', { assistants: [bot, bot] }],
    ['assistants.0.run', { assistants: [{ assistantId: 'bot' }] }],
  ])('refuses a wrong %s: %o', (path, options) => {
    const whole = { url: 'http://127.0.0.1:9', agentId: 'agent', assistants: [bot], ...options } as AgentOptions;
    expect(refused(() => attachAgent(whole))).toBe(path);
  });
});
