import type { ReactNode } from 'react';

/** Where names end and times begin. */
export const NAMES = '47%';

/** @param from from 0 to 1, like `to` */
export function Bar({ from, to, look, text }: { from: number; to: number; look: string; text: string }): ReactNode {
  return (
    <span
      role="img"
      aria-label={text}
      title={text}
      className={`absolute top-1/2 h-2.5 min-w-[3px] -translate-y-1/2 rounded-xs ${look}`}
      style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }}
    />
  );
}
