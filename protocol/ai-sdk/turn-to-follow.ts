import { isEnded, type Turn } from '../turn.js';

/** So long after its end a turn is told again to who comes back: he may have missed the end of it. */
const REPLAY_MS = 60_000;

/**
 * The turn whose answer a page that comes back is to show: the one that runs, else the next one that waits, else one in the
 * background, else the newest that has ended not long ago; null where there is none.
 *
 * @param now milliseconds since 1970
 */
export function turnToFollow(turns: readonly Turn[], now: number): Turn | null {
  const byAge = [...turns].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const foreground = byAge.filter(({ background }) => !background);
  const isRecent = ({ endedAt }: Turn): boolean => endedAt !== null && now - Date.parse(endedAt) < REPLAY_MS;
  return (
    foreground.find(({ status }) => status === 'running') ??
    foreground.find(({ status }) => status === 'queued') ??
    byAge.findLast(({ status }) => !isEnded(status)) ??
    [foreground.at(-1)].find((turn) => turn !== undefined && isRecent(turn)) ??
    null
  );
}
