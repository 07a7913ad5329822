import {
  ChatError,
  foldMessage,
  jsonDepth,
  MAX_JSON_DEPTH,
  parsePath,
  PathFault,
  readPath,
  REPLACEMENT,
  splitHalf,
  textAt,
  tooLarge,
  utf8Bytes,
  wellFormed,
  type EventBody,
  type Json,
  type JsonObject,
  type Limits,
  type Message,
  type MessageChangeBody,
} from '../../protocol/index.js';
import { Undo } from './undo.js';

/** What a message takes beside its props: ids, times, names. A round figure. */
const MESSAGE_OVERHEAD_BYTES = 256;

/** Bytes that a text in JSON has around it. */
const QUOTES = 2;
/** Bytes that a key or an index has around it, at most: quotes, colon, comma, and the brackets of what it opens. */
const AROUND_SEGMENT = 6;

/** What a path adds at most where nothing of it is there yet. */
const pathBytes = (path: string): number => jsonBytes(path) + AROUND_SEGMENT * parsePath(path).length;

/** Bytes of a value as JSON in UTF-8. */
export const jsonBytes = (value: Json): number => utf8Bytes(JSON.stringify(value));

/** What a message counts (DAT-3): all that its author chooses, and the overhead. */
export const messageBytes = ({
  props,
  metadata = null,
}: {
  readonly props: JsonObject;
  readonly metadata?: JsonObject | null | undefined;
}): number => jsonBytes(props) + jsonBytes(metadata) + MESSAGE_OVERHEAD_BYTES;

/**
 * The messages of one attempt, in memory until the attempt is stored. Every change is an event folded by the one fold;
 * the caller publishes what comes back. A change that is refused has changed nothing.
 */
export class MessageBuffer {
  readonly #messages = new Map<string, Message>();
  /** Halves of surrogate pairs that wait for the next append (DAT-1): message → path → high surrogate. */
  readonly #halves = new Map<string, Map<string, string>>();
  readonly #bytesOf = new Map<string, number>();
  /** Messages that somebody deleted while the attempt runs: what the assistant does to them is accepted and dropped (CMD-4). */
  readonly #deleted = new Set<string>();
  #bytes = 0;
  /** Messages that are not here and count all the same. */
  #others = 0;

  constructor(private readonly limits: Limits) {}

  /** Messages of the same turn that stand from earlier attempts: a turn has its bounds however often it is resumed (DAT-3). */
  standBeside(messages: readonly Message[]): void {
    this.#others = messages.length;
    this.#bytes += messages.reduce((sum, message) => sum + messageBytes(message), 0);
  }

  get size(): number {
    return this.#messages.size;
  }

  /** Bytes that the messages hold, and those beside them. */
  get bytes(): number {
    return this.#bytes;
  }

  get messages(): Iterable<Message> {
    return this.#messages.values();
  }

  get deletedIds(): ReadonlySet<string> {
    return this.#deleted;
  }

  get(messageId: string): Message | undefined {
    return this.#messages.get(messageId);
  }

  /** Whether the id is one of this attempt's, also when its message was deleted. */
  knows(messageId: string): boolean {
    return this.#messages.has(messageId) || this.#deleted.has(messageId);
  }

  /** Opens a message. `room` is what the turn may still take, in bytes. */
  create(message: Message, room: number, undo: Undo): EventBody[] {
    if (this.#messages.size + this.#others >= this.limits.maxMessagesPerTurn)
      throw tooLarge('maxMessagesPerTurn', this.limits.maxMessagesPerTurn);
    this.#account(message.messageId, messageBytes(message), room, undo);
    this.#put(message, undo);
    return [{ type: 'message.created', ...ofTurn(message), message }];
  }

  /** Takes up a message that was there before, whatever the bounds are now: it is not refused any more. */
  restore(message: Message): void {
    this.#messages.set(message.messageId, message);
    const bytes = messageBytes(message);
    this.#bytes += bytes;
    this.#bytesOf.set(message.messageId, bytes);
  }

  /** Appends text. No event for what adds nothing that can be shown yet. */
  append(messageId: string, path: string, text: string, room: number, undo: Undo): EventBody[] {
    const message = this.#open(messageId);
    if (!message) return [];
    const from = lengthAt(message, path);
    const { head, half } = splitHalf((this.#halves.get(messageId)?.get(path) ?? '') + text);
    const shown = wellFormed(head);
    this.#hold(messageId, path, half, undo);
    if (shown === '') {
      // A half alone is refused where a whole text would be.
      if (half !== '') folded(message, { type: 'message.appended', messageId, path, from, text: REPLACEMENT });
      return [];
    }
    // The first text of a path may bring its keys with it.
    const added = jsonBytes(shown) + (from === 0 ? pathBytes(path) : -QUOTES);
    const events = this.#change(message, { type: 'message.appended', messageId, path, from, text: shown }, undo);
    this.#accountChange(messageId, added, room, undo);
    return events;
  }

  replace(messageId: string, type: string | undefined, props: JsonObject, room: number, undo: Undo): EventBody[] {
    const message = this.#open(messageId);
    if (!message) return [];
    this.#account(messageId, messageBytes({ ...message, props }), room, undo);
    this.#dropHalves(messageId, undo);
    return this.#change(
      message,
      { type: 'message.replaced', messageId, messageType: type ?? message.type, props },
      undo,
    );
  }

  merge(messageId: string, path: string, value: Json, room: number, undo: Undo): EventBody[] {
    return this.#write({ type: 'message.merged', messageId, path, value }, room, undo);
  }

  set(messageId: string, path: string, value: Json, room: number, undo: Undo): EventBody[] {
    return this.#write({ type: 'message.set', messageId, path, value }, room, undo);
  }

  /** Closes a message: a half that is still held back becomes U+FFFD first. */
  end(messageId: string, undo: Undo): EventBody[] {
    const message = this.#open(messageId);
    if (!message) return [];
    const events: EventBody[] = [];
    for (const [path] of this.#halves.get(messageId) ?? []) {
      const held = this.#messages.get(messageId) as Message;
      const from = textOrNull(held, path)?.length ?? 0;
      const change: MessageChangeBody = { type: 'message.appended', messageId, path, from, text: REPLACEMENT };
      // Another half may have taken the place where this one was to stand: it has none then, and a close cannot fail.
      if (canFold(held, change)) events.push(...this.#change(held, change, undo));
    }
    this.#dropHalves(messageId, undo);
    events.push(...this.#change(this.#messages.get(messageId) as Message, { type: 'message.closed', messageId }, undo));
    return events;
  }

  /** Marks a tool call that nobody runs any more; one that is as large as a message may be stays as it is. */
  markInterrupted(messageId: string): EventBody[] {
    const undo = new Undo();
    try {
      return this.set(messageId, 'state', 'interrupted', Infinity, undo);
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      undo.run();
      return [];
    }
  }

  /** Closes whatever is open: of the whole attempt, or what `of` picks. */
  endAll(of: (message: Message) => boolean = () => true): EventBody[] {
    const open = [...this.#messages.values()].filter((message) => message.state === 'open' && of(message));
    const undo = new Undo();
    return open.flatMap((message) => this.end(message.messageId, undo));
  }

  /** A person's edit of a closed message (CMD-4). */
  update(message: Message, room: number, undo: Undo): EventBody[] {
    this.#account(message.messageId, messageBytes(message), room, undo);
    this.#put(message, undo);
    return [{ type: 'message.updated', ...ofTurn(message), message }];
  }

  /** Takes a message out without a trace: for one that comes back under another id. */
  take(messageId: string): Message | undefined {
    const message = this.#messages.get(messageId);
    if (!message) return undefined;
    this.#account(messageId, 0, Infinity, new Undo());
    this.#messages.delete(messageId);
    this.#bytesOf.delete(messageId);
    return message;
  }

  /** Takes a message out. @returns whether it was there */
  delete(messageId: string, undo: Undo): boolean {
    const message = this.#messages.get(messageId);
    if (!message) return false;
    this.#messages.delete(messageId);
    this.#deleted.add(messageId);
    undo.add(() => {
      this.#messages.set(messageId, message);
      this.#deleted.delete(messageId);
    });
    this.#dropHalves(messageId, undo);
    this.#account(messageId, 0, Infinity, undo);
    return true;
  }

  #write(
    change: Extract<MessageChangeBody, { type: 'message.merged' | 'message.set' }>,
    room: number,
    undo: Undo,
  ): EventBody[] {
    const { messageId, path, value } = change;
    const message = this.#open(messageId);
    if (!message) return [];
    if (parsePath(path).length + jsonDepth(value) > MAX_JSON_DEPTH) {
      throw new ChatError('bad_request', `The props would be nested deeper than ${MAX_JSON_DEPTH} levels.`, {
        details: { path: 'value' },
      });
    }
    const events = this.#change(message, change, undo);
    const now = this.#messages.get(messageId) as Message;
    this.#dropOverwrittenHalves(message, now, undo);
    const held = readPath(message.props, path);
    const replaced = held === undefined ? -pathBytes(path) : change.type === 'message.set' ? jsonBytes(held) : 0;
    this.#accountChange(messageId, jsonBytes(value) - replaced, room, undo);
    return events;
  }

  #change(message: Message, change: MessageChangeBody, undo: Undo): EventBody[] {
    this.#put(folded(message, change), undo);
    // Not spread: a spread that adds a key costs as much as a third of a token, and every token comes here.
    if (message.requestId !== null) change.requestId = message.requestId;
    return [change];
  }

  /** The open message, undefined for one that somebody deleted. @throws {ChatError} bad_request: unknown or closed */
  #open(messageId: string): Message | undefined {
    const message = this.#messages.get(messageId);
    if (!message) {
      if (this.#deleted.has(messageId)) return undefined;
      throw new ChatError('bad_request', `There is no message ${messageId} in this attempt.`, {
        details: { path: 'messageId' },
      });
    }
    if (message.state === 'closed')
      throw new ChatError('bad_request', `The message ${messageId} is closed.`, { details: { path: 'messageId' } });
    return message;
  }

  #put(message: Message, undo: Undo): void {
    const before = this.#messages.get(message.messageId);
    this.#messages.set(message.messageId, message);
    undo.add(() => {
      if (before) this.#messages.set(message.messageId, before);
      else this.#messages.delete(message.messageId);
    });
  }

  /** Counts a change that adds at most so much: an exact count is made only when that would refuse it. */
  #accountChange(messageId: string, added: number, room: number, undo: Undo): void {
    const estimate = (this.#bytesOf.get(messageId) ?? 0) + added;
    const isRefused = estimate > this.limits.maxMessageBytes || added > room;
    const bytes = isRefused ? messageBytes(this.#messages.get(messageId) as Message) : estimate;
    this.#account(messageId, bytes, room, undo);
  }

  #account(messageId: string, bytes: number, room: number, undo: Undo): void {
    const before = this.#bytesOf.get(messageId) ?? 0;
    if (bytes > this.limits.maxMessageBytes) throw tooLarge('maxMessageBytes', this.limits.maxMessageBytes);
    if (bytes - before > room) throw tooLarge('maxTurnBytes', this.limits.maxTurnBytes);
    this.#bytes += bytes - before;
    this.#bytesOf.set(messageId, bytes);
    undo.add(() => {
      this.#bytes += before - bytes;
      this.#bytesOf.set(messageId, before);
    });
  }

  #hold(messageId: string, path: string, half: string, undo: Undo): void {
    const held = this.#halves.get(messageId);
    const before = held?.get(path) ?? '';
    if (before === half) return;
    this.#setHalf(messageId, path, half);
    undo.add(() => this.#setHalf(messageId, path, before));
  }

  #setHalf(messageId: string, path: string, half: string): void {
    const held = this.#halves.get(messageId) ?? new Map<string, string>();
    if (half === '') held.delete(path);
    else held.set(path, half);
    if (held.size === 0) this.#halves.delete(messageId);
    else this.#halves.set(messageId, held);
  }

  #dropHalves(messageId: string, undo: Undo): void {
    for (const path of [...(this.#halves.get(messageId)?.keys() ?? [])]) this.#hold(messageId, path, '', undo);
  }

  /** A half belongs to the text that it was cut from: where that text was overwritten, the half is gone too. */
  #dropOverwrittenHalves(before: Message, now: Message, undo: Undo): void {
    for (const path of [...(this.#halves.get(now.messageId)?.keys() ?? [])]) {
      if (textOrNull(before, path) !== textOrNull(now, path)) this.#hold(now.messageId, path, '', undo);
    }
  }
}

const ofTurn = ({ requestId }: Message) => (requestId === null ? {} : { requestId });

function lengthAt(message: Message, path: string): number {
  try {
    return textAt(message.props, path).length;
  } catch (error) {
    if (error instanceof PathFault)
      throw new ChatError('bad_request', error.message, { cause: error, details: { path: 'path' } });
    throw error;
  }
}

function textOrNull(message: Message, path: string): string | null {
  try {
    return textAt(message.props, path);
  } catch {
    return null;
  }
}

/** @throws {ChatError} `bad_request`: the path leads nowhere */
function folded(message: Message, change: MessageChangeBody): Message {
  try {
    return foldMessage(message, change);
  } catch (error) {
    if (error instanceof PathFault) throw new ChatError('bad_request', error.message, { cause: error });
    throw error;
  }
}

function canFold(message: Message, change: MessageChangeBody): boolean {
  try {
    foldMessage(message, change);
    return true;
  } catch (error) {
    if (error instanceof PathFault) return false;
    throw error;
  }
}
