import type { ChatEvent } from '../../../../protocol/index.js';
import { byName } from '../../ui/by-name.js';

/** What an event looks like among others. */
export type EventLook = 'turn' | 'message' | 'step' | 'chat' | 'bad';

export function lookOf(event: ChatEvent): EventLook {
  if (event.type === 'turn.ended' && event.turn.status !== 'completed') return 'bad';
  if (event.type === 'step.ended' && event.step.status !== 'completed') return 'bad';
  if (event.type === 'message.created' && event.message.type === 'error') return 'bad';
  const [group] = event.type.split('.');
  return group === 'turn' || group === 'message' || group === 'step' ? group : 'chat';
}

export const LOOK_TEXT: Readonly<Record<EventLook, string>> = {
  turn: 'text-primary',
  message: 'text-foreground',
  step: 'text-warning',
  chat: 'text-success',
  bad: 'text-destructive',
};

export const LOOK_FILL: Readonly<Record<EventLook, string>> = {
  turn: 'bg-primary',
  message: 'bg-sky-500',
  step: 'bg-amber-500',
  chat: 'bg-emerald-500',
  bad: 'bg-red-500',
};

const TURNS = [
  'bg-indigo-100 text-indigo-900 dark:bg-indigo-950 dark:text-indigo-200',
  'bg-emerald-100 text-emerald-900 dark:bg-emerald-950 dark:text-emerald-200',
  'bg-amber-100 text-amber-900 dark:bg-amber-950 dark:text-amber-200',
  'bg-rose-100 text-rose-900 dark:bg-rose-950 dark:text-rose-200',
  'bg-sky-100 text-sky-900 dark:bg-sky-950 dark:text-sky-200',
  'bg-violet-100 text-violet-900 dark:bg-violet-950 dark:text-violet-200',
] as const;

/** Always the same of a turn. */
export const turnColour = (requestId: string): string => byName(requestId, TURNS);
