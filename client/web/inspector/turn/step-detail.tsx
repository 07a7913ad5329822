import type { ReactNode } from 'react';
import type { Json, Step } from '../../../../protocol/index.js';
import { Button } from '../../ui/button.js';
import { JsonText } from '../../ui/json-text.js';
import { Status } from '../status.js';
import { spaceChanges, stepBefore } from './space-changes.js';
import type { TreeRow } from './step-tree.js';

interface StepDetailProps {
  readonly step: Step;
  /** All of its turn. */
  readonly steps: readonly Step[];
  /** Looks at where it began in the log; null: the log does not tell of that. */
  readonly onFind: (() => void) | null;
}

/** What went into a step, what came out of it, and the space that it began with. */
export function StepDetail({ step, steps, onFind }: StepDetailProps): ReactNode {
  const { input, output, error, spaceSnapshot, metadata } = step;
  const previous = stepBefore(steps, step);
  return (
    <div className="flex flex-col gap-2 px-3 pt-1 pb-3 text-note">
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs text-muted-foreground">
        <Status status={step.status} />
        <span>step {step.sequence}</span>
        <span>depth {step.stackDepth}</span>
        <span className="font-mono select-all">{step.stepId}</span>
      </p>
      {onFind && (
        <Button size="small" className="self-start" onClick={onFind}>
          Show in the log
        </Button>
      )}
      <Part name="Input" value={input} />
      <Part name="Output" value={output} />
      <Part name="Error" value={error} />
      <Part name="Space when it began" value={spaceSnapshot} />
      {previous && <Changes step={step} previous={previous} />}
      <Part name="Metadata" value={metadata} />
    </div>
  );
}

export function MessageDetail({ row }: { row: TreeRow & { kind: 'message' } }): ReactNode {
  const { messageId, sequence, props, metadata } = row.message;
  return (
    <div className="flex flex-col gap-2 px-3 pt-1 pb-3 text-note">
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs text-muted-foreground">
        <span>sequence {sequence}</span>
        <span className="font-mono select-all">{messageId}</span>
      </p>
      <Part name="Props" value={props} />
      <Part name="Metadata" value={metadata} />
    </div>
  );
}

function Part({ name, value }: { name: string; value: Json | null }): ReactNode {
  if (value === null) return null;
  return (
    <div className="[&>pre]:bg-background [&>pre]:text-xs">
      <p className="mb-0.5 text-xs text-muted-foreground">{name}</p>
      <JsonText label={name} value={value} />
    </div>
  );
}

function Changes({ step, previous }: { step: Step; previous: Step }): ReactNode {
  const { added, changed, removed } = spaceChanges(previous.spaceSnapshot, step.spaceSnapshot);
  const parts = [
    ['new', added],
    ['changed', changed],
    ['gone', removed],
  ] as const;
  const said = parts.filter(([, keys]) => keys.length > 0);
  if (said.length === 0) return null;
  return (
    <p className="text-xs break-words text-muted-foreground">
      Since step {previous.sequence} began:{' '}
      {said.map(([what, keys]) => `${what} ${keys.map((key) => JSON.stringify(key)).join(', ')}`).join('; ')}
    </p>
  );
}
