import { CircleCheck, CircleX, LoaderCircle, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { json } from '../../../protocol/index.js';
import { Fold } from '../ui/fold.js';
import { JsonText } from '../ui/json-text.js';
import { view, type ViewProps } from './view.js';

const schema = z.object({
  tool: z.string().optional(),
  name: z.string().optional(),
  state: z.string().optional(),
  input: json.optional(),
  output: json.optional(),
  error: json.optional(),
});

const STATES = {
  running: {
    icon: <LoaderCircle size={14} className="animate-spin" />,
    text: 'Running',
    look: 'text-muted-foreground',
  },
  completed: { icon: <CircleCheck size={14} />, text: 'Done', look: 'text-success' },
  failed: { icon: <CircleX size={14} />, text: 'Failed', look: 'text-destructive' },
  stopped: { icon: <CircleX size={14} />, text: 'Not finished', look: 'text-muted-foreground' },
} as const;

function stateOf(state: string | undefined, error: unknown, isOpen: boolean): keyof typeof STATES {
  if (state === 'failed' || (error !== undefined && error !== null)) return 'failed';
  if (state === 'completed') return 'completed';
  return isOpen ? 'running' : state === undefined ? 'completed' : 'stopped';
}

function ToolCall({ message, props }: ViewProps<z.infer<typeof schema>>): ReactNode {
  const { tool, name, input, output, error, state } = props;
  const shown = STATES[stateOf(state, error, message.state === 'open')];
  return (
    <Fold
      id={message.messageId}
      icon={<Wrench size={15} />}
      title={<span className="font-mono text-note">{tool ?? name ?? 'tool'}</span>}
      note={
        <span className={`flex shrink-0 items-center gap-1.5 text-note ${shown.look}`}>
          <span aria-hidden>{shown.icon}</span>
          {shown.text}
        </span>
      }
    >
      <Part title="Input" value={input} />
      <Part title="Output" value={output} />
      <Part title="Error" value={error} />
    </Fold>
  );
}

function Part({ title, value }: { title: string; value: z.infer<typeof json> | undefined }): ReactNode {
  if (value === undefined || value === null) return null;
  return (
    <div className="mt-2 first:mt-0">
      <div className="mb-1 text-xs font-medium text-muted-foreground">{title}</div>
      <JsonText label={title} value={value} />
    </div>
  );
}

export const ToolCallMessage = view(schema, ToolCall);
