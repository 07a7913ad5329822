import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { view, type ViewProps } from './view.js';

const props = z.object({ message: z.string(), code: z.string().optional().catch(undefined) });

function ErrorText({ props: { message, code } }: ViewProps<z.infer<typeof props>>): ReactNode {
  return (
    <div className="my-1 flex items-start gap-2.5 rounded-xl bg-destructive-soft px-3.5 py-2.5 text-sm text-destructive">
      <CircleAlert size={16} className="mt-1 shrink-0" aria-hidden />
      <div className="min-w-0">
        <p className="break-words whitespace-pre-wrap">{message}</p>
        {code && <p className="font-mono text-note break-all">{code}</p>}
      </div>
    </div>
  );
}

export const ErrorMessage = view(props, ErrorText);
