import type { ReactNode } from 'react';
import type { Json, Turn } from '../../../../protocol/index.js';
import { JsonText } from '../../ui/json-text.js';
import { Status } from '../status.js';
import { durationText } from './time-scale.js';
import type { Attempt, TurnStory } from './turn-story.js';

/** A turn in numbers. */
export function TurnFacts({ turn, story, now }: { turn: Turn; story: TurnStory; now: number }): ReactNode {
  const { attempts, waited, firstOutputMs } = story;
  const ran = attempts.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? now) - from), 0);
  const facts: readonly (readonly [string, string])[] = [
    ['assistant', turn.assistantId],
    ...(waited?.to ? [['waited', durationText(waited.to - waited.from)] as const] : []),
    ...(firstOutputMs === null ? [] : [['first output after', durationText(firstOutputMs)] as const]),
    ...(attempts.length === 0 ? [] : [['ran', durationText(ran)] as const]),
    ...(turn.background ? [['queue', 'background'] as const] : []),
    ...(turn.stopReason === null ? [] : [['stop reason', turn.stopReason] as const]),
    ...usageOf(turn.usage),
  ];
  return (
    <div className="border-b border-border px-3 py-2 text-note">
      <p className="truncate font-mono text-xs text-muted-foreground select-all">{turn.requestId}</p>
      <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5">
        {facts.map(([name, value]) => (
          <div key={name} className="flex min-w-0 gap-1.5">
            <dt className="shrink-0 text-muted-foreground">{name}</dt>
            <dd className="min-w-0 truncate tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {turn.error && (
        <p className="mt-1.5 rounded-lg bg-destructive-soft px-2.5 py-1.5 break-words text-destructive">
          <span className="font-mono text-xs">{turn.error.code}</span> {turn.error.message}
        </p>
      )}
      {attempts.length > 1 && <Attempts attempts={attempts} now={now} />}
      {turn.metadata !== null && (
        <div className="mt-1.5 [&>pre]:max-h-24 [&>pre]:text-xs">
          <JsonText label="Metadata of the turn" value={turn.metadata} />
        </div>
      )}
    </div>
  );
}

function Attempts({ attempts, now }: { attempts: readonly Attempt[]; now: number }): ReactNode {
  return (
    <ol aria-label="Attempts" className="mt-1.5 flex flex-col gap-0.5">
      {attempts.map(({ attempt, from, to, status, stopReason }) => (
        <li key={attempt} className="flex items-center gap-3">
          <span className="text-muted-foreground">attempt {attempt}</span>
          <Status status={status} />
          <span className="tabular-nums">{durationText(Math.max(0, (to ?? now) - from))}</span>
          {stopReason !== null && <span className="text-muted-foreground">{stopReason}</span>}
        </li>
      ))}
    </ol>
  );
}

/** The numbers that a turn reports of what it used, by their own names. */
function usageOf(usage: Json | null): readonly (readonly [string, string])[] {
  if (usage === null) return [];
  if (typeof usage !== 'object' || Array.isArray(usage)) return [['usage', JSON.stringify(usage)]];
  return Object.entries(usage)
    .filter(([, value]) => typeof value === 'number')
    .slice(0, 6)
    .map(([name, value]) => [name, JSON.stringify(value)]);
}
