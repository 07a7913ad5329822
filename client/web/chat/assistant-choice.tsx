import { Bot, ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { useHello } from '../session/session-provider.js';
import { Menu, MenuChoice } from '../ui/menu.js';

interface AssistantChoiceProps {
  readonly assistantId: string;
  readonly onChoose: (assistantId: string) => void;
}

/** Who answers in a chat that is about to begin. */
export function AssistantChoice({ assistantId, onChoose }: AssistantChoiceProps): ReactNode {
  const assistants = useHello()?.assistants ?? [];
  const name = assistants.find((assistant) => assistant.assistantId === assistantId)?.name ?? assistantId;
  const choices = assistants.map((assistant) => ({
    value: assistant.assistantId,
    text: (
      <span className="min-w-0 truncate">
        {assistant.name || assistant.assistantId}
        {!assistant.available && <span className="text-muted-foreground"> · not here at present</span>}
      </span>
    ),
  }));
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`Assistant: ${name}`}
          className="inline-flex h-9 min-w-0 items-center gap-1.5 rounded-full px-3 text-sm text-muted-foreground hover:bg-accent hover:text-foreground"
        >
          <Bot size={16} className="shrink-0" aria-hidden />
          <span className="truncate">{name}</span>
          <ChevronDown size={14} className="shrink-0" aria-hidden />
        </button>
      }
    >
      <MenuChoice label="Who answers" value={assistantId} choices={choices} onChoose={onChoose} />
    </Menu>
  );
}
