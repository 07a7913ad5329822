import type { ReactNode } from 'react';
import * as z from 'zod';
import { Dots } from '../ui/dots.js';
import { view, type ViewProps } from './view.js';

const props = z.object({ message: z.string().optional(), done: z.boolean().optional() });

function Loading({ message, props: { message: text, done } }: ViewProps<z.infer<typeof props>>): ReactNode {
  const isDone = done === true || message.state === 'closed';
  return (
    <p className="flex items-center gap-2.5 text-sm text-muted-foreground">
      {!isDone && <Dots />}
      <span className="min-w-0 break-words">{text || (isDone ? 'Done' : 'Working')}</span>
    </p>
  );
}

export const LoadingMessage = view(props, Loading);
