import {
  isEnded,
  type Chat as ChatRow,
  type ChatError,
  type ChatView,
  type Message,
  type Position,
  type PresentUser,
  type StepSummary,
  type Turn,
} from '../protocol/index.js';
import type { EndReason, FollowPhase } from './following.js';
import type { PendingInput } from './pending-inputs.js';

/**
 * - `loading`: nothing is held yet
 * - `live`: every event comes as it happens
 * - `stale`: what is held was true at `position`; not connected, not followed, or about to catch up
 * - `ended`: the chat was deleted, or may not be read (any more); `reason` says which
 */
export type ChatStatus = 'loading' | 'live' | 'stale' | 'ended';

/** A chat as the client knows it: an immutable value, and the same reference until something in it changes. */
export interface ChatSnapshot {
  readonly status: ChatStatus;
  /** Why the status is `ended`, else null. */
  readonly reason: EndReason | null;
  /** The refusal that ended it, null otherwise. */
  readonly error: ChatError | null;
  /** Null while `loading`. */
  readonly chat: ChatRow | null;
  /** Ascending by sequence. A message that did not change keeps its reference. */
  readonly messages: readonly Message[];
  /** Whether the chat has messages older than the first one held. */
  readonly hasMore: boolean;
  /** By requestId: those waiting or running, those of the snapshot's messages and whatever happened since. */
  readonly turns: ReadonlyMap<string, Turn>;
  /** By stepId: the steps of running turns that began while the chat was followed. */
  readonly steps: ReadonlyMap<string, StepSummary>;
  readonly presence: readonly PresentUser[];
  /** The place in the chat's log that all of this speaks of. */
  readonly position: Position | null;
  /** What was sent and is not in `messages` yet, oldest first. */
  readonly pending: readonly PendingInput[];
  /** The foreground turn that the server says is running. */
  readonly running: Turn | null;
  /** Whether a foreground turn is running or waiting: a new one would have to wait. */
  readonly isBusy: boolean;
}

export interface SnapshotParts {
  readonly view: ChatView | null;
  readonly phase: FollowPhase;
  readonly presence: readonly PresentUser[];
  readonly pending: readonly PendingInput[];
  /** Whether a start that creates the chat is under way. */
  readonly isBeingCreated: boolean;
}

/** What is held before anything is. */
const NOTHING = {
  chat: null,
  messages: [] as readonly Message[],
  hasMore: false,
  turns: new Map<string, Turn>() as ReadonlyMap<string, Turn>,
  steps: new Map<string, StepSummary>() as ReadonlyMap<string, StepSummary>,
  position: null,
};

/** The snapshot of these parts, or `before` itself where it says the same. */
export function chatSnapshot(parts: SnapshotParts, before: ChatSnapshot | null): ChatSnapshot {
  const { view, phase, presence, pending } = parts;
  const { chat, messages, hasMore, turns, steps, position } = view ?? NOTHING;
  const status = statusOf(parts);
  const end = status === 'ended' && phase.name === 'ended' ? phase : { reason: null, error: null };
  const foreground = [...turns.values()].filter((turn) => !turn.background && !isEnded(turn.status));
  const snapshot: ChatSnapshot = {
    status,
    reason: end.reason,
    error: end.error,
    chat,
    messages,
    hasMore,
    turns,
    steps,
    presence,
    position,
    pending,
    running: foreground.find((turn) => turn.status === 'running') ?? null,
    isBusy: foreground.length > 0,
  };
  return before && isSame(snapshot, before) ? before : snapshot;
}

function statusOf({ view, phase, isBeingCreated }: SnapshotParts): ChatStatus {
  if (phase.name === 'ended' && !(phase.reason === 'not_found' && isBeingCreated)) return 'ended';
  if (!view) return 'loading';
  return phase.name === 'live' ? 'live' : 'stale';
}

function isSame(a: ChatSnapshot, b: ChatSnapshot): boolean {
  return (Object.keys(a) as (keyof ChatSnapshot)[]).every((key) => Object.is(a[key], b[key]));
}
