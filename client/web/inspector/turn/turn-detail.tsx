import { useMemo, type ReactNode } from 'react';
import { isEnded, type ChatEvent, type ChatView, type Turn } from '../../../../protocol/index.js';
import { useNow } from '../../ui/use-after.js';
import type { Heard } from '../log/log-source.js';
import { stepTree } from './step-tree.js';
import { timeScale } from './time-scale.js';
import { TurnFacts } from './turn-facts.js';
import { turnStory, type Span } from './turn-story.js';
import { useRecordedSteps } from './use-turn-rows.js';
import { Waterfall } from './waterfall.js';

const TICK_MS = 200;

interface TurnDetailProps {
  readonly turn: Turn;
  readonly tip: ChatView;
  readonly events: readonly ChatEvent[];
  /** The time of the entry that is looked at, milliseconds since 1970. */
  readonly at: number | null;
  readonly heard: Heard | null;
  /** The ids of what is unfolded. */
  readonly open: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  /** Looks at the entry of an event. */
  readonly onLook: (event: ChatEvent) => void;
}

export function TurnDetail({ turn, tip, events, at, heard, open, onToggle, onLook }: TurnDetailProps): ReactNode {
  const { requestId } = turn;
  const reason = useMemo(() => reasonToAsk(events, requestId), [events, requestId]);
  const read = useRecordedSteps(requestId, reason);
  const messages = useMemo(
    () => tip.messages.filter((message) => message.requestId === requestId && message.role === 'assistant'),
    [tip.messages, requestId],
  );
  const steps = read.value ?? NO_STEPS;
  const rows = useMemo(() => stepTree(steps, messages), [steps, messages]);
  const story = useMemo(() => turnStory(turn, steps, messages, events), [turn, steps, messages, events]);
  const local = useNow(isEnded(turn.status) ? null : TICK_MS);
  const now = nowOf(heard, local, events);
  const scale = useMemo(() => timeScale(spansOf(story), now), [story, now]);
  const finderOf = (stepId: string): (() => void) | null => {
    const begun = events.findLast((event) => event.type === 'step.started' && event.step.stepId === stepId);
    return begun ? () => onLook(begun) : null;
  };
  return (
    <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="group" aria-label="What the turn did">
      <TurnFacts turn={turn} story={story} now={now} />
      {read.status === 'refused' && (
        <p className="border-b border-border bg-warning-soft px-3 py-1.5 text-note text-warning">
          {read.error.code === 'forbidden'
            ? 'Steps hold prompts and secrets: they are shown to those who may talk in this chat.'
            : `The steps could not be read: ${read.error.message}`}
        </p>
      )}
      {read.status === 'read' && steps.length === 0 && (
        <p className="px-3 pt-2 text-note text-muted-foreground">
          {isEnded(turn.status) ? 'This turn recorded no steps.' : 'No step has begun yet.'}
        </p>
      )}
      <Waterfall
        rows={rows}
        steps={steps}
        story={story}
        scale={scale}
        at={at}
        now={now}
        open={open}
        finderOf={finderOf}
        onToggle={onToggle}
      />
    </div>
  );
}

const NO_STEPS: readonly never[] = [];

/** What of the log says that there is something new to read about a turn's steps. */
function reasonToAsk(events: readonly ChatEvent[], requestId: string): string {
  const last = events.findLast(
    (event) =>
      ('step' in event && event.step.requestId === requestId) ||
      ('turn' in event && event.turn.requestId === requestId),
  );
  return last ? `${last.epoch}:${last.offset}` : '';
}

/** The present by the server's clock, as far as this page knows it. */
function nowOf(heard: Heard | null, local: number, events: readonly ChatEvent[]): number {
  const last = events.at(-1);
  if (heard) return heard.at + Math.max(0, local - heard.local);
  return Math.max(local, last ? Date.parse(last.at) : 0);
}

const spansOf = ({ waited, attempts, steps, messages }: ReturnType<typeof turnStory>): readonly Span[] => [
  ...(waited ? [waited] : []),
  ...attempts,
  ...[...steps.values()].flat(),
  ...messages.values(),
];
