import { FolderX, LockKeyhole } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ChatError, EndReason } from '../../index.js';
import { navigate } from '../route.js';
import { Button } from '../ui/button.js';
import { COLUMN } from './column.js';

const WORDS: Readonly<Record<EndReason, { readonly title: string; readonly text: string }>> = {
  deleted: { title: 'This chat was deleted', text: 'It is gone with all that was said in it.' },
  revoked: { title: 'This chat is not shared with you any more', text: 'Whoever owns it can share it again.' },
  forbidden: { title: 'This chat is not yours to read', text: 'Whoever owns it can share it with you.' },
  not_found: { title: 'There is no such chat', text: 'It was deleted, or it is not shared with you.' },
  refused: { title: 'This chat cannot be shown', text: '' },
};

/** In the place of a chat that cannot be shown. */
export function Gone({ reason, error }: { reason: EndReason | null; error: ChatError | null }): ReactNode {
  const { title, text } = WORDS[reason ?? 'refused'];
  const Icon = reason === 'deleted' || reason === 'not_found' ? FolderX : LockKeyhole;
  return (
    <div className={`${COLUMN} my-auto flex flex-col items-center gap-2 py-8 text-center`}>
      <Icon size={28} className="text-muted-foreground" aria-hidden />
      <h2 className="text-lg font-semibold">{title}</h2>
      <p className="text-sm text-muted-foreground">{text || error?.message}</p>
      <Button className="mt-3" onClick={() => navigate('/')}>
        Begin another one
      </Button>
    </div>
  );
}

/** In the place of messages that are on their way. */
export function Reading(): ReactNode {
  return (
    <div className={`${COLUMN} flex-1 pt-10`} role="status" aria-label="Reading the chat">
      {['w-2/5 ml-auto', 'w-full', 'w-11/12', 'w-3/5'].map((width) => (
        <div key={width} className={`mb-4 h-4 animate-pulse rounded-full bg-muted ${width}`} />
      ))}
    </div>
  );
}
