import type { EventBody, Json } from '../../protocol/index.js';
import type { StepRecord } from '../ports/store.js';

/** What a change of a turn leads to: published by the chat's session, in order (TRN-4). */
export type Effect =
  | { readonly kind: 'event'; readonly body: EventBody }
  /** The whole record is for the journal: the event leaves out what may hold prompts and secrets. */
  | { readonly kind: 'step'; readonly record: StepRecord; readonly body: EventBody }
  | { readonly kind: 'signal'; readonly name: string; readonly data: Json };

/** What leads to events alone. */
export const eventEffects = (bodies: readonly EventBody[]): Effect[] => bodies.map((body) => ({ kind: 'event', body }));
