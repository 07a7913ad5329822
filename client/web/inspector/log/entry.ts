import type { ChatEvent, ChatView } from '../../../../protocol/index.js';

/**
 * Why the log goes on from a view instead of from an event before it.
 *
 * - `opened`: nothing before it is replayed any more, or there is nothing before it
 * - `whole`: what could not be known of the messages that had been there before is known from here on
 * - `gap`: events were missed while there was no connection
 * - `epoch`: the server began another log
 * - `misfit`: what had been told does not give what the server shows
 * - `trimmed`: what came before was dropped here, to bound the memory of this page
 */
export type StartReason = 'opened' | 'whole' | 'gap' | 'epoch' | 'misfit' | 'trimmed';

/** A place where the view is not what the event before it makes of the one before that. */
export interface Start {
  readonly kind: 'start';
  readonly id: number;
  readonly why: StartReason;
  readonly view: ChatView;
  /** Messages that the view lacks, because their content at that moment cannot be known. */
  readonly unknown: readonly string[];
  /** What exactly did not fit, for people; empty otherwise. */
  readonly problem: string;
}

export interface Happened {
  readonly kind: 'event';
  readonly id: number;
  readonly event: ChatEvent;
}

/** One line of the log as this page holds it. Ids are consecutive: offsets begin again with another epoch. */
export type Entry = Start | Happened;

export type StartDraft = Omit<Start, 'id' | 'kind'>;
export type Draft = StartDraft | ChatEvent;

export const isStart = (draft: Draft): draft is StartDraft => 'why' in draft;

/** The turn that an event is of. */
export function requestIdOf(event: ChatEvent): string | null {
  if ('turn' in event) return event.turn.requestId;
  if ('step' in event) return event.step.requestId;
  if ('message' in event) return event.message.requestId;
  return event.requestId ?? null;
}

/** The messages that an event is about. */
export function messageIdsOf(event: ChatEvent): readonly string[] {
  if ('messageIds' in event) return event.messageIds;
  if ('message' in event) return [event.message.messageId];
  return 'messageId' in event ? [event.messageId] : [];
}

/** The place in the log that an entry brings the view to. */
export const positionOf = (entry: Entry): { readonly epoch: string; readonly offset: number } =>
  entry.kind === 'start' ? entry.view.position : entry.event;
