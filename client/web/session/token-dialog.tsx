import type { FormEvent, ReactNode } from 'react';
import { useConnection } from '../../react/index.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { FIELD } from '../ui/field.js';
import { attempt } from '../ui/notices.js';
import { useSession, useWho } from './session-provider.js';

interface TokenDialogProps {
  /** Why one is needed; null: it was asked for. */
  readonly why: string | null;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks for a token. It is kept by this tab alone, and stands in no address. */
export function TokenDialog({ why, isOpen, onClose }: TokenDialogProps): ReactNode {
  const session = useSession();
  const give = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('token');
    const token = typeof given === 'string' ? given.trim() : '';
    if (token === '') return;
    onClose();
    attempt('Signing in', session.giveToken(token));
  };
  const text = 'This server asks for one. It is kept in this tab, and forgotten with it.';
  return (
    <Dialog title="Your token" text={why ? `${why} ${text}` : text} isOpen={isOpen} onClose={onClose}>
      <form onSubmit={give} className="flex gap-2">
        <input
          aria-label="Token"
          name="token"
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          className={`${FIELD} font-mono`}
        />
        <Button type="submit" look="primary">
          Sign in
        </Button>
      </form>
    </Dialog>
  );
}

/** Asks by itself where the server lets nobody in without one. */
export function SignIn(): ReactNode {
  const connection = useConnection();
  const who = useWho();
  const code = connection.status === 'closed' ? connection.error?.code : undefined;
  const isNeeded = code === 'unauthenticated' || code === 'token_expired';
  const why = isNeeded && who.by === 'token' && connection.status === 'closed' ? connection.error?.message : undefined;
  return <TokenDialog why={why ?? null} isOpen={isNeeded} onClose={() => undefined} />;
}
