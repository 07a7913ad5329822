import { Check, Copy } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { IconButton } from './button.js';
import { notify } from './notices.js';
import { useAfter } from './use-after.js';

const SHOWN_MS = 1_500;

/** @param text gives what is copied, when it is wanted */
export function CopyButton({ label, text }: { label: string; text: () => string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  useAfter(isCopied ? SHOWN_MS : null, () => setCopied(false));
  const copy = (): void => {
    // Browsers have no clipboard for pages over plain http.
    const { clipboard } = navigator as { clipboard?: Clipboard };
    if (!clipboard) return notify('This browser lets only https pages copy.');
    clipboard.writeText(text()).then(
      () => setCopied(true),
      () => notify('The browser did not let it be copied.'),
    );
  };
  return (
    <IconButton label={isCopied ? 'Copied' : label} size="small" onClick={copy}>
      {isCopied ? <Check size={15} /> : <Copy size={15} />}
    </IconButton>
  );
}
