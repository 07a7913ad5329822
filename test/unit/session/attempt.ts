import { ChatError, DEFAULT_LIMITS, type Limits, type Message, type Step } from '../../../protocol/index.js';
import { applyOps } from '../../../server/session/apply-ops.js';
import type { Effect } from '../../../server/session/effect.js';
import type { Frame } from '../../../server/session/frame.js';
import { LiveTurn } from '../../../server/session/live-turn.js';
import { AT, turnRow } from '../client/rows.js';

export const ROOT_STACK = 'the-stack-of-the-root';

export const aRunningTurn = turnRow('request-1', { assistantId: 'bot' });

export interface Attempt {
  readonly live: LiveTurn;
  /** Applies ops of the root frame, all or none. */
  readonly push: (...ops: unknown[]) => Effect[];
  /** The same for another frame. */
  readonly pushAs: (frame: Frame, ...ops: unknown[]) => Effect[];
  /** The error of ops that are refused. */
  readonly refusal: (...ops: unknown[]) => ChatError;
  readonly held: () => Message[];
  readonly steps: () => Step[];
  /** All that ops can change, for comparing. */
  readonly state: () => string;
}

/** A running attempt in an empty chat, without a server around it. */
export function anAttempt(limits: Limits = DEFAULT_LIMITS): Attempt {
  const record = {
    turn: aRunningTurn,
    fingerprint: '',
    rootStackId: ROOT_STACK,
    regenerates: null,
    openedBy: null,
  };
  const live = new LiveTurn({ record, input: [], answersAnew: [], limits, now: () => AT });
  let sequence = 1;
  let made = 0;
  const pushAs = (frame: Frame, ...ops: unknown[]): Effect[] =>
    applyOps(
      {
        live,
        frame,
        now: AT,
        newId: () => `an-id-made-by-the-server-${++made}`,
        nextSequence: (undo) => {
          const given = sequence++;
          undo.add(() => (sequence = given));
          return given;
        },
        isHeld: () => false,
        unwanted: () => undefined,
      },
      ops,
    );
  const push = (...ops: unknown[]): Effect[] => pushAs(live.root, ...ops);
  const held = (): Message[] => [...live.messages.messages];
  const steps = (): Step[] => live.stepRecords().map(({ step }) => step);
  return {
    live,
    push,
    pushAs,
    held,
    steps,
    refusal(...ops) {
      try {
        push(...ops);
      } catch (error) {
        if (error instanceof ChatError) return error;
        throw error;
      }
      throw new Error('was not refused');
    },
    state: () =>
      JSON.stringify([held(), live.stepRecords(), live.steps.space(), live.bytes, sequence, live.root.openSteps]),
  };
}

/** An op that opens a message of this type. */
export const say = (type: string, props: unknown, more: object = {}): object => ({ op: 'send', type, props, ...more });
/** An id as agents make them. */
export const id = (name: string): string => `an-id-made-by-an-agent-${name}`;
