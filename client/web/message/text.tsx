import type { ReactNode } from 'react';
import * as z from 'zod';
import { LazyMarkdown } from '../markdown/lazy-markdown.js';
import { useUnfolded } from '../ui/unfolded.js';
import { view, type ViewProps } from './view.js';

const props = z.object({ content: z.string() });

function Text({
  message: { messageId, role, state },
  props: { content },
}: ViewProps<z.infer<typeof props>>): ReactNode {
  if (role === 'user') return <Said messageId={messageId} text={content} />;
  return <LazyMarkdown text={content} isOpen={state === 'open'} />;
}

/** More lines, or characters, of what a person said are shown when they are asked for. */
const MAX_LINES = 12;
const MAX_LENGTH = 1_200;

function Said({ messageId, text }: { messageId: string; text: string }): ReactNode {
  const [isWhole, setWhole] = useUnfolded(messageId);
  const isLong = text.length > MAX_LENGTH || text.split('\n', MAX_LINES + 1).length > MAX_LINES;
  const clamp = isLong && !isWhole ? 'line-clamp-8' : '';
  return (
    <>
      <div className={`break-words whitespace-pre-wrap ${clamp}`}>{text}</div>
      {isLong && (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="mt-1 text-note font-medium text-muted-foreground underline underline-offset-3 hover:text-foreground"
        >
          {isWhole ? 'Show less' : 'Show all'}
        </button>
      )}
    </>
  );
}

export const TextMessage = view(props, Text);
