import type { ReactNode } from 'react';
import { Bar, NAMES } from './bar.js';
import { durationText, type TimeScale } from './time-scale.js';
import type { TurnStory } from './turn-story.js';
import type { WaterfallProps } from './waterfall-props.js';
import { WaterfallRow } from './waterfall-row.js';

/** A turn's calls as a tree, each with the time that it took. */
export function Waterfall(props: WaterfallProps): ReactNode {
  const { rows, story, scale, at, now } = props;
  const percent = (time: number): string => `${scale.at(time) * 100}%`;
  return (
    <div className="relative pb-3">
      <div aria-hidden className="relative flex h-6 items-end text-[11px] text-muted-foreground">
        <span className="shrink-0 pl-3" style={{ width: NAMES }}>
          step
        </span>
        <span className="relative mr-16 h-full flex-1">
          {scale.ticks.map((tick, index) => (
            <span
              key={tick.at}
              className="absolute bottom-0 whitespace-nowrap tabular-nums"
              style={
                index === 0 ? { left: 0 } : { left: `${tick.at * 100}%`, translate: tick.at > 0.85 ? '-100%' : '-50%' }
              }
            >
              {tick.text}
            </span>
          ))}
        </span>
      </div>
      <div aria-hidden className="pointer-events-none absolute top-6 right-16 bottom-0" style={{ left: NAMES }}>
        {scale.ticks.map((tick) => (
          <span
            key={tick.at}
            className="absolute inset-y-0 border-l border-border"
            style={{ left: `${tick.at * 100}%` }}
          />
        ))}
        {story.attempts.slice(1).map(({ attempt, from }) => (
          <span
            key={attempt}
            className="absolute inset-y-0 border-l-2 border-warning"
            style={{ left: percent(from) }}
          />
        ))}
        {at !== null && (
          <span data-cursor className="absolute inset-y-0 border-l-2 border-primary" style={{ left: percent(at) }} />
        )}
      </div>
      <ol aria-label="Steps" className="relative">
        <WholeTurn story={story} scale={scale} now={now} />
        {rows.map((row) => (
          <WaterfallRow key={`${row.kind} ${row.id}`} row={row} {...props} />
        ))}
      </ol>
      {scale.breaks.length > 0 && (
        <p className="px-3 pt-2 text-xs text-muted-foreground">
          Left out where nothing ran: {scale.breaks.map(({ ms }) => durationText(ms)).join(', ')}.
        </p>
      )}
    </div>
  );
}

/** The turn itself: how long it waited, and each of its attempts. */
function WholeTurn({ story, scale, now }: { story: TurnStory; scale: TimeScale; now: number }): ReactNode {
  const { waited, attempts } = story;
  return (
    <li className="flex h-6 items-center text-note">
      <span className="shrink-0 truncate pl-3 font-medium" style={{ width: NAMES }}>
        turn
      </span>
      <span className="relative mr-16 h-full flex-1">
        {waited && (
          <Bar
            from={scale.at(waited.from)}
            to={scale.at(waited.to ?? now)}
            look="bg-muted-foreground/30"
            text="waited"
          />
        )}
        {attempts.map(({ attempt, from, to, status }) => (
          <Bar
            key={attempt}
            from={scale.at(from)}
            to={scale.at(to ?? now)}
            look="bg-foreground/25"
            text={`attempt ${attempt}: ${status}, ${durationText(Math.max(0, (to ?? now) - from))}`}
          />
        ))}
      </span>
    </li>
  );
}
