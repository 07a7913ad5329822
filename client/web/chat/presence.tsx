import type { ReactNode } from 'react';
import { usePresence } from '../../react/index.js';
import { Avatar } from '../ui/avatar.js';
import { Hint } from '../ui/button.js';
import { COLUMN } from './column.js';

const MAX_SHOWN = 4;

/** Who else is in this chat. */
export function WhoIsHere(): ReactNode {
  const { others } = usePresence();
  const names = [...new Set(others.map(({ userId }) => userId))];
  if (names.length === 0) return null;
  const more = names.length - MAX_SHOWN;
  return (
    <Hint text={names.join(', ')}>
      <button type="button" className="flex -space-x-1.5 rounded-full px-1">
        <span className="sr-only">Also here: {names.join(', ')}</span>
        {names.slice(0, MAX_SHOWN).map((name) => (
          <Avatar key={name} name={name} className="ring-2 ring-background" />
        ))}
        {more > 0 && (
          <span aria-hidden className="pl-3 text-note text-muted-foreground">
            +{more}
          </span>
        )}
      </button>
    </Hint>
  );
}

/** Who else is typing. Its line is always there, so that nothing moves. */
export function WhoIsTyping(): ReactNode {
  const { typing } = usePresence();
  const names = [...new Set(typing.map(({ userId }) => userId))];
  return (
    <p role="status" className={`${COLUMN} h-6 truncate text-note text-muted-foreground`}>
      {names.length === 1 && `${names[0]} is typing…`}
      {names.length > 1 && `${names.slice(0, 3).join(', ')} are typing…`}
    </p>
  );
}
