import {
  Bot,
  Brain,
  ChevronRight,
  CornerDownRight,
  LogIn,
  MessageSquare,
  Sparkles,
  Webhook,
  Wrench,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { StepType } from '../../../../protocol/index.js';
import { classes } from '../../ui/classes.js';
import { Bar, NAMES } from './bar.js';
import { MessageDetail, StepDetail } from './step-detail.js';
import { stepName } from './step-name.js';
import type { TreeRow } from './step-tree.js';
import { durationText } from './time-scale.js';
import type { StepSpan, Span } from './turn-story.js';
import type { WaterfallProps } from './waterfall-props.js';

const ICONS: Readonly<Record<StepType, typeof Bot>> = {
  input: LogIn,
  hook_create: Webhook,
  llm: Brain,
  tool: Wrench,
  hook_next: Webhook,
  delegate: CornerDownRight,
};

const FILLS: Readonly<Record<string, string>> = {
  completed: 'bg-emerald-600 dark:bg-emerald-500',
  running: 'bg-primary animate-breathe',
  pending: 'bg-muted-foreground/40',
  interrupted: 'bg-amber-500',
  failed: 'bg-red-500',
};

/** Deeper calls stand where this one does: there has to be room for their names. */
const MAX_INDENT = 8;
const INDENT_PX = 12;

/** One line of the tree; a step or a message unfolds. */
export function WaterfallRow({ row, ...all }: WaterfallProps & { readonly row: TreeRow }): ReactNode {
  const { story, scale, now, at, steps, open, finderOf, onToggle } = all;
  const indent = 12 + Math.min(row.depth, MAX_INDENT) * INDENT_PX;
  if (row.kind === 'stack') {
    return (
      <li className="flex h-6 items-center gap-1.5 text-note" style={{ paddingLeft: indent }}>
        <Bot size={13} aria-hidden className="shrink-0 text-muted-foreground" />
        <span className="truncate font-medium" title={`stack ${row.stackId}`}>
          {row.assistantId}
        </span>
      </li>
    );
  }
  const spans = spansOf(row, story);
  const isAhead = at !== null && spans.every(({ from }) => from > at);
  const isOpen = open.has(row.id);
  return (
    <li className={classes(isAhead && 'opacity-45', isOpen && 'bg-muted')}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onToggle(row.id)}
        className="flex h-6 w-full items-center text-left text-note hover:bg-accent/70 focus-visible:-outline-offset-2"
      >
        <span
          className="flex shrink-0 items-center gap-1.5 overflow-hidden pr-2"
          style={{ width: NAMES, paddingLeft: indent }}
        >
          <ChevronRight
            size={12}
            aria-hidden
            className={classes('shrink-0 text-muted-foreground transition-transform', isOpen && 'rotate-90')}
          />
          <RowName row={row} />
        </span>
        <span className="relative h-full flex-1">
          {spans.map(({ from, to, status }, index) => (
            <Bar
              key={index}
              from={scale.at(from)}
              to={scale.at(to ?? now)}
              look={row.kind === 'message' ? 'bg-sky-500/70' : (FILLS[status] ?? 'bg-muted-foreground')}
              text={`${status}, ${durationText(Math.max(0, (to ?? now) - from))}`}
            />
          ))}
        </span>
        <span className="w-16 shrink-0 pr-3 text-right text-xs text-muted-foreground tabular-nums">
          {durationText(spans.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? now) - from), 0))}
        </span>
      </button>
      {isOpen && row.kind === 'step' && <StepDetail step={row.step} steps={steps} onFind={finderOf(row.id)} />}
      {isOpen && row.kind === 'message' && <MessageDetail row={row} />}
    </li>
  );
}

type Named = Exclude<TreeRow, { kind: 'stack' }>;

function RowName({ row }: { row: Named }): ReactNode {
  if (row.kind === 'message') {
    return (
      <>
        <MessageSquare size={13} aria-hidden className="shrink-0 text-muted-foreground" />
        <span className="truncate text-muted-foreground">{row.message.type}</span>
      </>
    );
  }
  const { type, error } = row.step;
  const name = stepName(row.step);
  const Icon = ICONS[type] ?? Sparkles;
  return (
    <>
      <Icon
        size={13}
        aria-hidden
        className={classes('shrink-0', error ? 'text-destructive' : 'text-muted-foreground')}
      />
      <span className="shrink-0">{type}</span>
      {name !== '' && <span className="truncate text-muted-foreground">{name}</span>}
    </>
  );
}

function spansOf(row: Named, { steps, messages }: WaterfallProps['story']): readonly (Span & { status: string })[] {
  if (row.kind === 'step') return (steps.get(row.id) ?? []) satisfies readonly StepSpan[];
  const span = messages.get(row.id);
  return span ? [{ ...span, status: row.message.state }] : [];
}
