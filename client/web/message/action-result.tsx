import { MousePointerClick } from 'lucide-react';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { json } from '../../../protocol/index.js';
import { view, type ViewProps } from './view.js';

const props = z.object({ value: json });

function ActionResult({ props: { value } }: ViewProps<z.infer<typeof props>>): ReactNode {
  return (
    <span className="flex items-center gap-2">
      <MousePointerClick size={15} className="shrink-0 text-muted-foreground" aria-label="Chose" />
      <span className="min-w-0 break-words">{typeof value === 'string' ? value : JSON.stringify(value)}</span>
    </span>
  );
}

export const ActionResultMessage = view(props, ActionResult);
