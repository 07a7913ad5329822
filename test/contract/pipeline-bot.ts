import { defineAssistant, type Assistant, type AssistantDefinition, type Tools } from '../../assistant/index.js';
import type { Message, Turn } from '../../protocol/index.js';
import type { AssistantScene, Host } from './assistant-hosts.js';

/** A tool that takes anything. */
export const plain = (execute: Tools[string]['execute'], more: Partial<Tools[string]> = {}): Tools[string] => ({
  inputSchema: { type: 'object' },
  ...more,
  execute,
});

export const call = (name: string, input: unknown = {}, id = 'c1') => ({ call: name, id, input });

export interface Asked {
  readonly scene: AssistantScene;
  readonly turn: Turn;
  readonly messages: readonly Message[];
}

/** Asks one assistant once, on a host. */
export async function ask(
  host: Host,
  definition: Partial<AssistantDefinition>,
  { more = [] }: { readonly more?: readonly Assistant[] } = {},
): Promise<Asked> {
  const bot = defineAssistant({ assistantId: 'bot', ...definition });
  const scene = await host([bot, ...more], { env: { AGENT_WAIT_MS: '20' } });
  const turn = await scene.ask('bot', 'go');
  return { scene, turn, messages: await scene.messages(turn.requestId) };
}
