import { Brain } from 'lucide-react';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { Fold } from '../ui/fold.js';
import { view, type ViewProps } from './view.js';

const props = z.object({ content: z.string() });

function Thinking({ message, props: { content } }: ViewProps<z.infer<typeof props>>): ReactNode {
  const isOpen = message.state === 'open';
  return (
    <Fold
      id={message.messageId}
      icon={<Brain size={15} className={isOpen ? 'animate-breathe' : ''} />}
      title={
        <>
          <span className="text-muted-foreground">{isOpen ? 'Thinking' : 'Thought'}</span>
          {/* Two words, also for those who listen. */}
          {isOpen && ' '}
          {isOpen && <span className="ml-1 text-muted-foreground italic">{lastLine(content)}</span>}
        </>
      }
    >
      <div className="max-h-96 overflow-y-auto break-words whitespace-pre-wrap text-muted-foreground" tabIndex={0}>
        {content}
      </div>
    </Fold>
  );
}

const lastLine = (text: string): string => text.slice(text.trimEnd().lastIndexOf('\n') + 1).slice(-80);

export const ThinkingMessage = view(props, Thinking);
