import type { ReactNode } from 'react';
import type { Json } from '../../index.js';

const MAX_SHOWN = 20_000;

/** A value in the words of JSON; a text as it stands. */
export function JsonText({ label, value }: { label: string; value: Json }): ReactNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const isCut = text.length > MAX_SHOWN;
  return (
    <pre
      // What scrolls has to be reached by keys.
      tabIndex={0}
      role="group"
      aria-label={label}
      className="max-h-72 overflow-auto rounded-lg bg-muted px-3 py-2 font-mono text-note break-words whitespace-pre-wrap"
    >
      {isCut ? `${text.slice(0, MAX_SHOWN)}\n… ${text.length - MAX_SHOWN} characters more` : text}
    </pre>
  );
}
