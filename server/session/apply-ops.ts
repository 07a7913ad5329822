import {
  ChatError,
  DEFAULT_PATH,
  MAX_STACK_DEPTH,
  op as opSchema,
  parse,
  SAID,
  SIGNAL_TYPE,
  tooLarge,
  type JsonObject,
  type Message,
  type Op,
  type Step,
} from '../../protocol/index.js';
import { eventEffects, type Effect } from './effect.js';
import type { Frame } from './frame.js';
import type { LiveTurn } from './live-turn.js';
import { depthBelow, type StackPlace } from './step-recorder.js';
import { Undo } from './undo.js';

type SendOp = Extract<Op, { op: 'send' }>;

/** What applying needs of the chat. */
export interface OpScene {
  readonly live: LiveTurn;
  readonly frame: Frame;
  readonly now: string;
  readonly newId: () => string;
  /** Gives the next sequence of the chat. */
  readonly nextSequence: (undo: Undo) => number;
  /** Whether another message of the chat has the id that no store can tell of yet. */
  readonly isHeld: (messageId: string) => boolean;
  /** Told of the calls whose answer is not wanted any more; of no account where the ops are refused. */
  readonly unwanted: (stackId: string) => void;
}

/**
 * Applies ops to a turn's buffer, all or none (AGT-2), without waiting for anything: an op has its place when this
 * returns.
 *
 * @throws {ChatError} `bad_request` or `payload_too_large`, with `details.index`
 */
export function applyOps(scene: OpScene, ops: readonly unknown[]): Effect[] {
  const undo = new Undo();
  const effects: Effect[] = [];
  for (const [index, candidate] of ops.entries()) {
    try {
      const op = parse(opSchema, candidate, ['ops', index]);
      effects.push(...applyOp(scene, op, undo));
      if (scene.live.room < 0) throw tooLarge('maxTurnBytes', scene.live.needs.limits.maxTurnBytes);
    } catch (thrown) {
      undo.run();
      throw thrown instanceof ChatError ? withIndex(thrown, index) : thrown;
    }
  }
  return effects;
}

const withIndex = (error: ChatError, index: number): ChatError =>
  new ChatError(error.code, `op ${index}: ${error.message}`, { details: { ...error.details, index }, cause: error });

function applyOp(scene: OpScene, op: Op, undo: Undo): Effect[] {
  const effects = effectsOf(scene, op, undo);
  return scene.frame.aside ? effects.filter(isShownOfHidden) : effects;
}

/** What is not shown leads to steps alone, and to the end of what these had shown in earlier attempts. */
function isShownOfHidden(effect: Effect): boolean {
  if (effect.kind === 'event') return effect.body.type === 'message.deleted';
  return effect.kind !== 'signal';
}

function effectsOf(scene: OpScene, op: Op, undo: Undo): Effect[] {
  const { steps, room } = scene.live;
  const messages = scene.frame.aside ?? scene.live.messages;
  switch (op.op) {
    case 'send':
      return send(scene, op, undo);
    case 'append':
      return eventEffects(messages.append(op.messageId, op.path || DEFAULT_PATH, op.text, room, undo));
    case 'replace':
      return eventEffects(messages.replace(op.messageId, op.type, op.props, room, undo));
    case 'merge':
      return eventEffects(messages.merge(op.messageId, mergePath(op), op.value, room, undo));
    case 'set':
      return eventEffects(messages.set(op.messageId, op.path, op.value, room, undo));
    case 'end':
      return eventEffects(messages.end(op.messageId, undo));
    case 'step.start':
      return startStep(scene, op, undo);
    case 'step.end':
      return endStep(scene, op, undo);
    case 'space.set':
      steps.setSpace(op.key, op.value, undo);
      return [];
    case 'space.delete':
      steps.deleteSpace(op.key, undo);
      return [];
    case 'delegate.end':
      scene.unwanted(ownCall(scene, op.stackId));
      return [];
    case 'signal':
      return [{ kind: 'signal', name: op.name, data: op.data }];
  }
}

/** @throws {ChatError} `bad_request`: no call of this frame */
function ownCall({ live, frame }: OpScene, stackId: string): string {
  if (live.frames.get(stackId)?.place.stackParentId === frame.stackId) return stackId;
  throw new ChatError('bad_request', 'There is no such call in this frame.', { details: { path: 'stackId' } });
}

/** Props are an object: only an object merges into them. */
function mergePath({ path = '', value }: Extract<Op, { op: 'merge' }>): string {
  if (path === '' && (value === null || typeof value !== 'object' || Array.isArray(value))) {
    throw new ChatError('bad_request', 'Without a path only an object can be merged.', { details: { path: 'value' } });
  }
  return path;
}

function send(scene: OpScene, op: SendOp, undo: Undo): Effect[] {
  const { live, frame } = scene;
  if (op.type === SIGNAL_TYPE) return [signalOf(op.props)];
  if (op.role === 'user' && live.record.openedBy === null) {
    throw new ChatError('bad_request', 'Messages of users are sent only in turns that an agent opened.', {
      details: { path: 'role' },
    });
  }
  const messageId = newMessageId(scene, op.messageId);
  const step = stepOf(scene, op.stepId === undefined ? (frame.openSteps.at(-1) ?? null) : op.stepId);
  const replaced = frame.aside ? [] : replacedBy(live, op, step?.stepId ?? null, undo);
  const message = newMessage(scene, op, { messageId, step, undo });
  const created = (frame.aside ?? live.messages).create(message, live.room, undo);
  live.sentBy.set(messageId, frame.stackId);
  undo.add(() => live.sentBy.delete(messageId));
  return [...replaced, ...eventEffects(created)];
}

function newMessage(
  { live, frame, now, nextSequence }: OpScene,
  op: SendOp,
  { messageId, step, undo }: { readonly messageId: string; readonly step: Step | null; readonly undo: Undo },
): Message {
  const { type, props, role = 'assistant', blockId = null, threadId = null, metadata = null } = op;
  return {
    messageId,
    chatId: live.turn.chatId,
    requestId: live.requestId,
    role,
    type,
    props,
    blockId,
    threadId,
    stepId: step?.stepId ?? null,
    assistantId: role === 'user' ? null : (step ?? frame.place).assistantId,
    sequence: frame.aside ? frame.aside.size + 1 : nextSequence(undo),
    state: 'open',
    metadata,
    createdAt: now,
    updatedAt: now,
  };
}

/** What a message takes the place of: what its step had sent before, and what its author names. @throws {ChatError} `bad_request` */
function replacedBy(live: LiveTurn, op: SendOp, stepId: string | null, undo: Undo): Effect[] {
  const named = (op.replaces ?? []).filter((messageId) => !live.deletedStored.has(messageId));
  for (const messageId of named) {
    const held = live.standing.find((message) => message.messageId === messageId);
    if (held?.role === 'assistant' && held.stepId === null) continue;
    throw new ChatError(
      'bad_request',
      `The message ${messageId} is not one of this turn's earlier attempts, of no step.`,
      {
        details: { path: 'replaces' },
      },
    );
  }
  const taken = live.superseded.takeForMessage(stepId, undo);
  return supersede(live, [...new Set([...taken, ...named])], undo);
}

/** A message of type `event` is a signal. */
function signalOf(props: JsonObject): Effect {
  const { name } = props;
  return { kind: 'signal', name: typeof name === 'string' && name !== '' ? name : SIGNAL_TYPE, data: props };
}

/** The step that a message belongs to. @throws {ChatError} `bad_request` */
function stepOf({ live, frame }: OpScene, stepId: string | null): Step | null {
  if (stepId === null) return null;
  const step = live.steps.get(stepId);
  if (!step)
    throw new ChatError('bad_request', `There is no step ${stepId} in this turn.`, { details: { path: 'stepId' } });
  mustBeOwn(live, frame, step.stackId, 'stepId');
  return step;
}

/**
 * AGT-3 for steps: those of a stack are written by the frame that runs it, or by one that it was called from.
 *
 * @throws {ChatError} `bad_request`: the stack of another frame
 */
function mustBeOwn(live: LiveTurn, frame: Frame, stackId: string, path: 'stepId' | 'stackId' | 'stackParentId'): void {
  let at: string | null = stackId;
  for (let level = 0; at !== null && level <= MAX_STACK_DEPTH; level++) {
    if (at === frame.stackId) return;
    at = live.steps.place(at)?.stackParentId ?? live.root.stackId;
  }
  throw new ChatError('bad_request', 'This is the stack of another frame.', { details: { path } });
}

/**
 * The id of a message to open. That of one which is stored elsewhere is found out with write 2, which gives this one
 * another.
 *
 * @throws {ChatError} `bad_request` for an id that the turn has used, in this attempt or before, or another message in memory
 */
function newMessageId({ live, frame, newId, isHeld }: OpScene, asked: string | undefined): string {
  const messageId = asked ?? newId();
  const isHere = live.messages.knows(messageId) || frame.aside?.knows(messageId) || isHeld(messageId);
  if (isHere || [...live.standing, ...live.needs.input].some((held) => held.messageId === messageId)) {
    throw new ChatError('bad_request', `The message ${messageId} exists.`, { details: { path: 'messageId' } });
  }
  return messageId;
}

/** Deletes for everybody what a new run replaces; the rows follow with write 2. */
export function supersede(live: LiveTurn, messageIds: readonly string[], undo?: Undo): Effect[] {
  if (messageIds.length === 0) return [];
  for (const messageId of messageIds) live.deletedStored.add(messageId);
  undo?.add(() => messageIds.forEach((messageId) => live.deletedStored.delete(messageId)));
  return [{ kind: 'event', body: { type: 'message.deleted', requestId: live.requestId, messageIds: [...messageIds] } }];
}

function startStep(scene: OpScene, op: Extract<Op, { op: 'step.start' }>, undo: Undo): Effect[] {
  const { live, frame } = scene;
  const place = stepPlace(live, frame, op);
  const held = live.steps.get(op.stepId);
  if (held) mustBeOwn(live, frame, held.stackId, 'stepId');
  const started = live.steps.start(
    { ...place, stepId: op.stepId, type: op.type, input: op.input ?? null, metadata: op.metadata ?? null },
    undo,
  );
  frame.openSteps.push(op.stepId);
  undo.add(() => void frame.openSteps.pop());
  return [started];
}

function stepPlace(live: LiveTurn, frame: Frame, op: Extract<Op, { op: 'step.start' }>): StackPlace {
  const stackId = op.stackId ?? frame.stackId;
  const known = live.steps.place(stackId);
  if (known) {
    mustBeOwn(live, frame, stackId, 'stackId');
    return { ...known, assistantId: op.assistantId ?? known.assistantId };
  }
  const parent = live.steps.place(op.stackParentId ?? frame.stackId);
  if (!parent)
    throw new ChatError('bad_request', 'The parent stack is not known in this turn.', {
      details: { path: 'stackParentId' },
    });
  mustBeOwn(live, frame, parent.stackId, 'stackParentId');
  const stackDepth = depthBelow(parent, 'stackId');
  return { stackId, stackParentId: parent.stackId, stackDepth, assistantId: op.assistantId ?? frame.place.assistantId };
}

/** What a step is left with: what its author says, and, where nobody was shown it, what it has sent. */
function metadataOf(
  { aside }: Frame,
  { stepId, status, metadata }: Extract<Op, { op: 'step.end' }>,
  before: Step | undefined,
): { readonly metadata?: JsonObject | null } {
  const said =
    status === 'completed' && aside ? [...aside.messages].filter((message) => message.stepId === stepId) : [];
  if (said.length > 0) return { metadata: { ...(metadata ?? before?.metadata), [SAID]: said } };
  return metadata === undefined ? {} : { metadata };
}

function endStep(scene: OpScene, op: Extract<Op, { op: 'step.end' }>, undo: Undo): Effect[] {
  const { live, frame } = scene;
  const before = live.steps.get(op.stepId);
  if (before) mustBeOwn(live, frame, before.stackId, 'stepId');
  if (before && before.status !== 'running' && before.status === op.status && op.metadata)
    return [live.steps.annotate(op.stepId, op.metadata, undo)];
  const ended = live.steps.end(
    {
      stepId: op.stepId,
      status: op.status,
      output: op.output ?? null,
      error: op.error ?? null,
      ...metadataOf(frame, op, before),
    },
    undo,
  );
  const index = frame.openSteps.lastIndexOf(op.stepId);
  if (index >= 0) {
    frame.openSteps.splice(index, 1);
    undo.add(() => void frame.openSteps.splice(index, 0, op.stepId));
  }
  const replaced = op.status === 'completed' ? supersede(live, live.superseded.takeForStep(op.stepId, undo), undo) : [];
  return [...replaced, ended];
}
