import type { SubscribeResult } from '../commands.js';
import { isEnded, type Turn } from '../turn.js';

/**
 * The turn that a client joins which has lost its run, or comes anew: the one that it names, else the one that runs, else
 * the next, else the newest in the background; null where nothing runs.
 */
export function turnToJoin({ turns = [] }: SubscribeResult, runId: string): Turn | null {
  const named = turns.find(({ requestId }) => requestId === runId);
  const live = turns.filter(({ status }) => !isEnded(status)).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const foreground = live.filter(({ background }) => !background);
  const running = foreground.find(({ status }) => status === 'running');
  return named ?? running ?? foreground[0] ?? live.at(-1) ?? null;
}
