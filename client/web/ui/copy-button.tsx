import { Check, Copy } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { IconButton } from './button.js';
import { copy } from './clipboard.js';
import { useAfter } from './use-after.js';

const SHOWN_MS = 1_500;

/** @param text gives what is copied, when it is wanted */
export function CopyButton({ label, text }: { label: string; text: () => string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  useAfter(isCopied ? SHOWN_MS : null, () => setCopied(false));
  return (
    <IconButton label={isCopied ? 'Copied' : label} size="small" onClick={() => copy(text(), () => setCopied(true))}>
      {isCopied ? <Check size={15} /> : <Copy size={15} />}
    </IconButton>
  );
}
