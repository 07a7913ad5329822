import { wellFormed, type Json, type JsonObject, type Message, type OpInput } from '../../protocol/index.js';

/**
 * What agents and people know that they have said, kept beside the server and without its code: messages are built from
 * the raw ops, and texts are made well-formed only when they are looked at.
 */

interface State {
  /** How many pushes of the frame have led to it. */
  readonly push: number;
  /** Texts as they were appended: halves of pairs and all. */
  readonly raw: JsonObject;
}

/** A message as its agent has written it: every state that it has had, in order. */
export class WrittenMessage {
  readonly states: State[] = [];
  /** The latest state that anybody has seen, -1: none. */
  seen = -1;
  /** What had been seen before the run was exposed. */
  seenSafely = -1;

  constructor(
    readonly messageId: string,
    readonly run: WrittenRun,
  ) {}

  add(push: number, raw: JsonObject): void {
    this.states.push({ push, raw });
  }

  get raw(): JsonObject {
    return this.states.at(-1)?.raw ?? {};
  }

  /** The state that everything acknowledged has led to, -1: the message itself was not acknowledged. */
  get acknowledged(): number {
    return this.states.findLastIndex(({ push }) => push <= this.run.acknowledged);
  }

  /** The first or last state in which the message looks like this, while it is open or once it is closed; -1: none. */
  find(props: JsonObject, { isClosed, from }: { readonly isClosed: boolean; readonly from: 'first' | 'last' }): number {
    const wanted = canonical(props);
    const looks = ({ raw }: State): boolean => canonical(shown(raw, isClosed)) === wanted;
    return from === 'first' ? this.states.findIndex(looks) : this.states.findLastIndex(looks);
  }

  /** How it must look once it is closed and nothing is missing. */
  get whole(): JsonObject {
    return shown(this.raw, true) as JsonObject;
  }
}

/** One frame in one agent's hands. */
export class WrittenRun {
  readonly messages = new Map<string, WrittenMessage>();
  /** Pushes written, and how many of them the server is known to have taken. */
  written = 0;
  acknowledged = 0;
  /** The agent has closed it as completed, and the server has agreed: everything written is there. */
  isComplete = false;
  /** What was seen of it since may be lost: its owner was cut off, and another has taken its chat over (LIF-4). */
  isExposed = false;

  constructor(
    readonly chatId: string,
    readonly requestId: string,
    readonly attempt: number,
    /** Which life of the server took it. */
    readonly life: number,
    readonly isRoot: boolean,
  ) {}

  push(ops: readonly OpInput[]): void {
    this.written++;
    for (const op of ops) this.#apply(op);
  }

  #apply(op: OpInput): void {
    if (op.op === 'send' && op.messageId !== undefined) {
      const message = new WrittenMessage(op.messageId, this);
      this.messages.set(op.messageId, message);
      message.add(this.written, clean(op.props as Json) as JsonObject);
      return;
    }
    const message = 'messageId' in op && op.messageId !== undefined ? this.messages.get(op.messageId) : undefined;
    if (!message) return;
    const { raw } = message;
    switch (op.op) {
      case 'append':
        message.add(
          this.written,
          at(raw, segmentsOf(op.path ?? 'content'), (held) => `${typeof held === 'string' ? held : ''}${op.text}`),
        );
        return;
      case 'replace':
        message.add(this.written, clean(op.props as Json) as JsonObject);
        return;
      case 'set':
        message.add(
          this.written,
          at(raw, segmentsOf(op.path), () => clean(op.value as Json)),
        );
        return;
      case 'merge':
        message.add(this.written, merged(raw, clean(op.value as Json)) as JsonObject);
        return;
      default: // closes it, or is about something else
    }
  }
}

/** A start as it was asked for, and what the answers said. */
export interface AskedTurn {
  readonly requestId: string;
  readonly chatId: string;
  readonly inputs: readonly string[];
  readonly regenerates: string | null;
  /** `unknown` until an answer came; an acceptance stands. */
  outcome: 'unknown' | 'accepted' | 'refused';
  /** Several nodes: an answer was lost, and a node may do it yet. */
  isAdrift: boolean;
}

export interface KnownChat {
  readonly chatId: string;
  readonly userId: string;
  /** Whether it is known to exist, or only asked for. */
  isKnown: boolean;
  deletion: 'none' | 'asked' | 'done';
}

/** Everything that a round knows by itself. */
export class Model {
  readonly chats = new Map<string, KnownChat>();
  readonly turns = new Map<string, AskedTurn>();
  readonly runs: WrittenRun[] = [];
  readonly written = new Map<string, WrittenMessage>();
  /** Messages that no agent of this round wrote (inputs, echoes), as they were last seen. */
  readonly seenOthers = new Map<string, Message>();
  /** Asked to be deleted, or seen to be. */
  readonly mayBeGone = new Set<string>();
  /** Known to be deleted: the command was acknowledged. */
  readonly gone = new Set<string>();
  /** Edits asked for, by message. */
  readonly edits = new Map<string, string[]>();
  /** Messages with an acknowledged edit. */
  readonly edited = new Set<string>();
  /** Of messages that no agent wrote, those that had been seen before some of them were exposed; null: none ever was. */
  seenSafely: ReadonlyMap<string, Message> | null = null;
  isExposed = false;

  /** A push that the server may take from now on. */
  push(run: WrittenRun, ops: readonly OpInput[]): void {
    run.push(ops);
    for (const [messageId, message] of run.messages) this.written.set(messageId, message);
  }

  /** A frame in an agent's hands, from now on. */
  begin(run: WrittenRun): void {
    run.isExposed = this.isExposed;
    this.runs.push(run);
  }

  /** What is seen and acknowledged from now on of what is not stored may be lost. */
  expose(): void {
    this.isExposed = true;
    this.seenSafely ??= new Map(this.seenOthers);
    for (const message of this.written.values()) {
      if (!message.run.isExposed) message.seenSafely = message.seen;
    }
    for (const run of this.runs) run.isExposed = true;
  }

  shelter(): void {
    this.isExposed = false;
  }

  /** Somebody has these messages on the screen. */
  saw(messages: readonly Message[]): void {
    for (const message of messages) {
      const written = this.written.get(message.messageId);
      if (!written) this.seenOthers.set(message.messageId, message);
      else if (!this.edits.has(message.messageId)) {
        written.seen = Math.max(
          written.seen,
          written.find(message.props, { isClosed: message.state === 'closed', from: 'first' }),
        );
      }
    }
  }
}

const segmentsOf = (path: string): string[] => path.replace(/^props\./, '').split('.');

function at(
  held: Json | undefined,
  [segment, ...rest]: string[],
  change: (held: Json | undefined) => Json,
): JsonObject {
  const inner =
    held !== null && typeof held === 'object' ? (held as Record<string, Json>)[segment as string] : undefined;
  const value = rest.length === 0 ? change(inner) : at(inner, rest, change);
  if (Array.isArray(held) || (held === undefined && /^\d+$/.test(segment as string))) {
    const list = [...((held as Json[] | undefined) ?? [])];
    list[Number(segment)] = value;
    return list as unknown as JsonObject;
  }
  return { ...(held as JsonObject | undefined), [segment as string]: value };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function merged(held: Json | undefined, value: Json): Json {
  if (!isObject(value)) return value;
  const base: Record<string, Json> = isObject(held) ? { ...held } : {};
  for (const [key, inner] of Object.entries(value)) base[key] = merged(base[key], inner);
  return base;
}

/** Every text of a value changed. */
function texts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((inner: Json) => texts(inner, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, texts(inner, change)]));
}

/** A value that came as a whole is made well-formed at once: its halves are joined with nothing (DAT-1). */
const clean = (value: Json): Json => texts(value, wellFormed);

/** A trailing half waits while the message is open, and is lost when it closes. */
const shown = (raw: Json, isClosed: boolean): Json =>
  texts(raw, (text) => wellFormed(isClosed ? text : text.replace(/[\ud800-\udbff]$/, '')));

/** JSON with sorted keys: for comparing. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner as Json)
      ? Object.fromEntries(Object.entries(inner as object).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
