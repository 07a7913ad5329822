import {
  canonicalJson,
  cleanJson,
  DEFAULT_PATH,
  foldMessage,
  idBelow,
  isJsonObject,
  jsonObject,
  op as opSchema,
  parse,
  splitHalf,
  textAt,
  type Assignment,
  type Json,
  type Message,
  type MessageChangeBody,
  type Op,
  type OpInput,
} from '../protocol/index.js';

type SendOp = Extract<OpInput, { op: 'send' }> & { messageId: string };
/** What changes a message that was sent. */
export type ChangeOp = Extract<OpInput, { op: 'append' | 'replace' | 'merge' | 'set' | 'end' }>;
type ParsedChange = Extract<Op, { op: ChangeOp['op'] }>;

/** A message of an earlier attempt and what the present run has made of it so far. */
interface Behind {
  /** It is the so-many-th message that the frame sends outside of any step. */
  readonly place: number;
  readonly stands: Message;
  now: Message;
}

/**
 * Messages outside of any step when their code runs again (TRN-9): they stand, and the run catches up with them in
 * silence. As long as it says what stands, or the beginning of it, nobody sees anything; once it says more, or something
 * else, its message takes the place of the one that stood and goes on live. So nothing stands twice, and what was cut off
 * is completed.
 */
export class StandingMessages {
  readonly #standing: ReadonlyMap<string, Message>;
  readonly #behind = new Map<string, Behind>();
  /** The id that the code was given → the one that the message has now. */
  readonly #renamed = new Map<string, string>();
  #sent = 0;

  constructor(
    private readonly frame: Pick<Assignment, 'stackId' | 'stackDepth' | 'turn' | 'resume'>,
    private readonly push: (ops: readonly OpInput[]) => Promise<void>,
  ) {
    const { resume, stackDepth } = frame;
    const steps = resume && resume.steps.length + resume.completedSteps.length + resume.otherSteps.length;
    // A turn without steps runs anew as a whole: the server replaces what it had sent.
    const isAnew = stackDepth === 0 && steps === 0;
    const outside = !resume || isAnew ? [] : resume.messages.filter(({ stepId }) => stepId === null);
    this.#standing = new Map(outside.map((message) => [message.messageId, message]));
  }

  /** Sends a message outside any step, unless it stands. @returns the id for its code */
  async send(op: Omit<SendOp, 'messageId'> & { messageId?: string | undefined }): Promise<string> {
    const place = ++this.#sent;
    const stands = this.#find(op.messageId, place);
    const messageId = stands?.messageId ?? op.messageId ?? this.#idOf(place, this.frame.turn.attempt);
    if (!stands) {
      await this.push([{ ...op, messageId }]);
      return messageId;
    }
    const { type } = op;
    const props = parse(jsonObject, op.props, ['props']);
    const behind: Behind = { place, stands, now: { ...stands, type, props, state: 'open' } };
    this.#behind.set(messageId, behind);
    if (!isBeginning(behind)) await this.#overtake(messageId, behind);
    return messageId;
  }

  /** Takes a change of a message that was sent by {@link send}; null where it is none that stands or stood. */
  change(op: ChangeOp): Promise<void> | null {
    const behind = this.#behind.get(op.messageId);
    if (behind) return this.#follow(op, behind);
    const renamed = this.#renamed.get(op.messageId);
    return renamed === undefined ? null : this.push([{ ...op, messageId: renamed }]);
  }

  /** The run is over: a message that it began and never ended becomes what the run made of it. */
  async finish(): Promise<void> {
    for (const [messageId, behind] of this.#behind) {
      if (!isSame(behind)) await this.#overtake(messageId, behind);
    }
  }

  async #follow(op: ChangeOp, behind: Behind): Promise<void> {
    const { messageId } = op;
    behind.now = foldMessage(behind.now, changeOf(parse(opSchema, op) as ParsedChange, behind.now));
    // Half a character alone would be lost: what follows it decides.
    if (op.op === 'end' ? isSame(behind) : isBeginning(behind) || endsInHalf(behind.now.props)) {
      if (op.op === 'end') this.#behind.delete(messageId);
      return;
    }
    await this.#overtake(messageId, behind);
  }

  /** The message of the present run takes the place of the one that stood. */
  #overtake(messageId: string, { place, stands, now }: Behind): Promise<void> {
    this.#behind.delete(messageId);
    const newId = this.#idOf(place, this.frame.turn.attempt);
    this.#renamed.set(messageId, newId);
    const { role, type, props, blockId, threadId, metadata, state } = now;
    const ops: OpInput[] = [
      {
        op: 'send',
        messageId: newId,
        role,
        type,
        props,
        blockId,
        threadId,
        metadata,
        stepId: null,
        replaces: [stands.messageId],
      },
    ];
    if (state === 'closed') ops.push({ op: 'end', messageId: newId });
    return this.push(ops);
  }

  #find(asked: string | undefined, place: number): Message | undefined {
    const named = asked === undefined ? undefined : this.#standing.get(asked);
    if (named || this.#standing.size === 0) return named;
    for (let attempt = this.frame.turn.attempt - 1; attempt >= 1; attempt--) {
      const held = this.#standing.get(this.#idOf(place, attempt));
      if (held) return held;
    }
    return undefined;
  }

  #idOf(place: number, attempt: number): string {
    return idBelow(this.frame.stackId, `${attempt}-${place}`);
  }
}

function changeOf(op: ParsedChange, message: Message): MessageChangeBody {
  const { messageId } = op;
  switch (op.op) {
    case 'append': {
      const path = op.path || DEFAULT_PATH;
      return { type: 'message.appended', messageId, path, from: textAt(message.props, path).length, text: op.text };
    }
    case 'replace':
      return { type: 'message.replaced', messageId, messageType: op.type ?? message.type, props: op.props };
    case 'merge':
      return { type: 'message.merged', messageId, path: op.path ?? '', value: op.value };
    case 'set':
      return { type: 'message.set', messageId, path: op.path, value: op.value };
    case 'end':
      return { type: 'message.closed', messageId };
  }
}

const isSame = ({ stands, now }: Behind): boolean =>
  now.type === stands.type && canonicalJson(cleanJson(now.props)) === canonicalJson(stands.props);

/** Whether what the run has said is what stands, or the beginning of it. */
const isBeginning = ({ stands, now }: Behind): boolean => now.type === stands.type && begins(stands.props, now.props);

const endsInHalf = (value: Json): boolean =>
  typeof value === 'string'
    ? splitHalf(value).half !== ''
    : value !== null && typeof value === 'object' && Object.values(value).some(endsInHalf);

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

function begins(whole: Json | undefined, part: Json): boolean {
  if (whole === undefined) return false;
  // Half a character waits for its other half.
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(splitHalf(part).head);
  if (isList(part)) return isList(whole) && part.every((value, index) => begins(whole[index], value));
  if (isJsonObject(part))
    return isJsonObject(whole) && Object.entries(part).every(([key, value]) => begins(whole[key], value));
  return whole === part;
}
