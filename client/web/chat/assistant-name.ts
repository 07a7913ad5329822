import type { ChatSnapshot } from '../../index.js';
import { useChatSnapshot } from '../../react/index.js';
import { useHello } from '../session/session-provider.js';

/** What the assistant of the chat around this is called. */
export function useAssistantName(): string {
  const assistantId = useChatSnapshot(({ chat }: ChatSnapshot) => chat?.assistantId ?? null);
  const known = useHello()?.assistants.find((assistant) => assistant.assistantId === assistantId);
  return known?.name || (assistantId ?? 'The assistant');
}
