import type { JsonObject } from '../json.js';
import type { Message } from '../message.js';
import type { Turn } from '../turn.js';
import type { UiChunk, UiMajor } from './chunk.js';
import { Layout, type Entry } from './layout.js';
import { changing, dataChunk, opening, type Held, type PartContext } from './part-chunks.js';
import { answerIdOf, answerMetadata, ending } from './ui-metadata.js';
import { originOf, type UiPart } from './ui-part.js';

/** What stands at one place of the client's list of parts. */
interface Slot {
  /** null: the boundary of a step. */
  readonly messageId: string | null;
  readonly held: Held | null;
  /** It has been replaced by what comes later, and cannot be taken back. */
  isStale: boolean;
  /** Bytes that were sent of a data part, which goes as a whole each time. */
  sentLength: number;
  puts: number;
  isBehind: boolean;
}

/** A client that has been given so many parts is told nothing again. A turn has 10,000 messages at most. */
const MAX_PARTS = 50_000;

const FREE_LENGTH = 64 * 1024;
const LENGTH_PER_PUT = 4 * 1024;
const TIMES_ITS_LENGTH = 16;

/**
 * One turn's answer as a UI message stream: a snapshot of its messages, then each change, become the chunks that bring a
 * client from what it holds to what is true. What a client holds is known, part by part, so a stream that begins in the
 * middle, or begins again, leads to the same message (DAT-4).
 *
 * What a client cannot take back (text that another one replaces) is repeated: major 7 resets its current step; otherwise
 * what is replaced stays, and `metadata.turnstream.replaced` names the places of those parts, for a page to leave out.
 */
export class AnswerStream {
  readonly #messages = new Map<string, Message>();
  readonly #slots: Slot[] = [];
  /** Those that are true, by their messages. */
  readonly #byMessage = new Map<string, Slot>();
  /** Texts that may go on. */
  readonly #openTexts = new Set<Slot>();
  #layout = new Layout();
  #isStepOpen = false;
  #isOver = false;

  constructor(
    private readonly turn: Turn,
    private readonly major: UiMajor,
  ) {}

  /** Whether the last chunk was made. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The first chunk, and all that stands. @param messages the turn's, ascending by sequence */
  begin(messages: readonly Message[]): UiChunk[] {
    const start: UiChunk = {
      type: 'start',
      messageId: answerIdOf(this.turn.requestId),
      messageMetadata: answerMetadata(this.turn),
    };
    return [start, ...messages.flatMap((message) => this.put(message))];
  }

  /** A message was created or has changed. */
  put(message: Message): UiChunk[] {
    if (message.role !== 'assistant' || this.#isOver) return [];
    const before = this.#messages.get(message.messageId);
    this.#messages.set(message.messageId, message);
    const slot = this.#byMessage.get(message.messageId);
    const part = this.#layout.named(message);
    if (part.kind === 'data' && part.transient) {
      const told =
        before?.props === message.props && before.type === message.type ? [] : [dataChunk(message.messageId, part)];
      return slot ? [...this.#layAgain(message.messageId), ...told] : told;
    }
    if (!slot) return this.#isLast(message) ? this.#append(this.#layout.add(message)) : this.#layAgain(null);
    return this.#change(slot, part, message) ?? this.#layAgain(message.messageId);
  }

  /** Messages were deleted. */
  remove(messageIds: readonly string[]): UiChunk[] {
    const gone = messageIds.filter((messageId) => this.#messages.delete(messageId));
    return gone.some((messageId) => this.#byMessage.has(messageId)) && !this.#isOver ? this.#layAgain(null) : [];
  }

  /** The turn has ended: the last chunks. */
  end(turn: Turn): UiChunk[] {
    return this.#over(ending(turn));
  }

  /** The stream ends before its turn, which may go on. */
  fail(errorText: string): UiChunk[] {
    return this.#over([{ type: 'error', errorText }]);
  }

  #over(last: readonly UiChunk[]): UiChunk[] {
    if (this.#isOver) return [];
    const behind = this.#slots.flatMap((slot) => this.#catchUp(slot));
    const trimmed = this.#dropEmptyStep();
    this.#isOver = true;
    return [...behind, ...trimmed, ...(this.#isStepOpen ? [{ type: 'finish-step' as const }] : []), ...last];
  }

  get #live(): Slot[] {
    return this.#slots.filter(({ isStale }) => !isStale);
  }

  /** Whether all that the client holds comes before it. */
  #isLast({ sequence }: Message): boolean {
    const last = this.#layout.entries.at(-1);
    return last?.kind !== 'part' || last.message.sequence < sequence;
  }

  get #currentStep(): number {
    return this.#slots.findLastIndex(({ messageId }) => messageId === null);
  }

  #contextOf(message: Message, part: UiPart, slot: Slot | null): PartContext {
    return {
      messageId: message.messageId,
      origin: originOf(message, this.turn.assistantId, part.kind === 'file' ? part.more : {}),
      open: message.state === 'open',
      isCurrent: slot === null || this.#slots.indexOf(slot) > this.#currentStep,
    };
  }

  #change(slot: Slot, part: UiPart, message: Message): UiChunk[] | null {
    const held = slot.held as Held;
    const context = this.#contextOf(message, part, slot);
    const chunks = changing(held, part, context);
    if (chunks === null) return null;
    held.part = part;
    held.open &&= context.open;
    if (!held.open) this.#openTexts.delete(slot);
    if (part.kind !== 'data') return chunks;
    slot.isBehind ||= chunks.length > 0;
    const { length } = JSON.stringify(part.data);
    const mayCost = FREE_LENGTH + TIMES_ITS_LENGTH * length + LENGTH_PER_PUT * ++slot.puts;
    return context.open && slot.sentLength + length > mayCost ? [] : this.#catchUp(slot, length);
  }

  /** A large data part that changes often is not sent with each change; once it is closed it is. */
  #catchUp(slot: Slot, length = 0): UiChunk[] {
    const { held, messageId } = slot;
    if (!slot.isBehind || slot.isStale || messageId === null || held?.part.kind !== 'data') return [];
    slot.isBehind = false;
    slot.sentLength += length;
    return [dataChunk(messageId, held.part)];
  }

  #append(entries: readonly Entry[]): UiChunk[] {
    return entries.flatMap((entry, index) => {
      if (entry.kind === 'step') return this.#lastLive()?.messageId === null ? [] : this.#beginStep();
      const joins = index === 0 && this.#lastLive()?.messageId === null;
      return [...(joins && !this.#isLaid() ? this.#dropEmptyStep() : []), ...this.#open(entry)];
    });
  }

  #lastLive(): Slot | undefined {
    return this.#slots.findLast(({ isStale }) => !isStale);
  }

  /** Whether the step that the client is in is one of the layout. */
  #isLaid(): boolean {
    const live = this.#live;
    return this.#layout.entries[live.length - 1]?.kind === 'step';
  }

  #open({ message, part }: Extract<Entry, { kind: 'part' }>): UiChunk[] {
    const apart = part.kind === 'tool' && this.#hasReplaced(part.toolCallId) ? this.#beginStepApart() : [];
    const slot = this.#addSlot(message.messageId, { part, open: message.state === 'open' && isText(part) });
    return [...apart, ...opening(part, this.#contextOf(message, part, slot))];
  }

  /** Whether the client would take a call that was replaced for the one of this id. */
  #hasReplaced(toolCallId: string): boolean {
    return this.#slots
      .slice(this.#currentStep + 1)
      .some(({ held, isStale }) => isStale && held?.part.kind === 'tool' && held.part.toolCallId === toolCallId);
  }

  /** A step that is none of the answer's. */
  #beginStepApart(): UiChunk[] {
    const begun = this.#beginStep();
    const step = this.#slots.at(-1);
    if (step) step.isStale = true;
    return [...begun, ...this.#tellReplaced()];
  }

  #addSlot(messageId: string | null, held: Held | null): Slot {
    const slot: Slot = { messageId, held, isStale: false, sentLength: 0, puts: 0, isBehind: false };
    this.#slots.push(slot);
    if (messageId !== null) this.#byMessage.set(messageId, slot);
    if (held?.open === true) this.#openTexts.add(slot);
    return slot;
  }

  /** Older majors forget the open parts of a step that is finished: so it is not, while there are any. */
  #beginStep(): UiChunk[] {
    const finishes = this.#isStepOpen && this.#openTexts.size === 0;
    this.#isStepOpen = true;
    this.#addSlot(null, null);
    return [...(finishes ? [{ type: 'finish-step' as const }] : []), { type: 'start-step' }];
  }

  /** What is true, where a change cannot be told as one. @param changed a message that the client holds otherwise */
  #layAgain(changed: string | null): UiChunk[] {
    if (this.#slots.length > MAX_PARTS)
      return this.fail('The answer has changed too often; load the conversation again.');
    const messages = [...this.#messages.values()].sort((a, b) => a.sequence - b.sequence);
    this.#layout = new Layout();
    for (const message of messages) this.#layout.add(message);
    const { entries } = this.#layout;
    const live = this.#live;
    let kept = 0;
    while (kept < live.length && isAt(live[kept], entries[kept], changed)) kept++;
    const step = this.#currentStep;
    // The step that the client is in may be empty now: it is the next one's.
    if (entries.length === kept && live[kept] === this.#slots[step]) kept++;
    const removed = live.slice(kept);
    if (removed.length === 0) return this.#append(entries.slice(kept));
    const inStep = removed.every((slot) => this.#slots.indexOf(slot) > step);
    if (this.major >= 7 && inStep && !this.#slots.slice(0, step).some(isUnderWay)) {
      const dropped = this.#slots.splice(step + 1);
      for (const slot of dropped) this.#forget(slot);
      const wasTold = dropped.some(({ isStale }) => isStale);
      const repeated = this.#append(entries.slice(this.#live.length));
      return [{ type: 'reset-step' }, ...repeated, ...(wasTold ? this.#tellReplaced() : [])];
    }
    return this.#replace(removed, entries.slice(kept));
  }

  /** What is replaced stays with the client, and what is true is repeated; but data, which is found by its id, keeps its place. */
  #replace(removed: readonly Slot[], entries: readonly Entry[]): UiChunk[] {
    const inPlace = new Set(entries.filter((entry) => this.#holdsData(entry)).map(messageIdOf));
    const left = removed.filter(({ messageId }) => !inPlace.has(messageId)).flatMap((slot) => this.#leave(slot));
    const repeated = entries
      .filter((entry) => !inPlace.has(messageIdOf(entry)) || entry.kind === 'step')
      .flatMap((entry) => (entry.kind === 'step' ? this.#beginStep() : this.#open(entry)));
    return [...left, ...repeated, ...this.#tellReplaced()];
  }

  #forget(slot: Slot): void {
    this.#openTexts.delete(slot);
    if (slot.messageId !== null && !slot.isStale) this.#byMessage.delete(slot.messageId);
  }

  #holdsData(entry: Entry): boolean {
    if (entry.kind === 'step' || entry.part.kind !== 'data') return false;
    const part = this.#byMessage.get(entry.message.messageId)?.held?.part;
    return part?.kind === 'data' && part.name === entry.part.name;
  }

  #leave(slot: Slot): UiChunk[] {
    slot.isStale = true;
    const { held, messageId } = slot;
    if (messageId !== null) this.#byMessage.delete(messageId);
    if (!held?.open || messageId === null || !isText(held.part)) return [];
    held.open = false;
    this.#openTexts.delete(slot);
    return [{ type: `${held.part.kind}-end`, id: messageId }];
  }

  #dropEmptyStep(): UiChunk[] {
    const last = this.#lastLive();
    if (last?.messageId !== null) return [];
    last.isStale = true;
    return this.#tellReplaced();
  }

  #tellReplaced(): UiChunk[] {
    const replaced = this.#slots.flatMap(({ isStale }, index) => (isStale ? [index] : []));
    const messageMetadata: JsonObject = { turnstream: { replaced } };
    return [{ type: 'message-metadata', messageMetadata }];
  }
}

const isText = (part: UiPart): part is Extract<UiPart, { kind: 'text' | 'reasoning' }> =>
  part.kind === 'text' || part.kind === 'reasoning';

const messageIdOf = (entry: Entry): string | null => (entry.kind === 'part' ? entry.message.messageId : null);

/** Whether the client would lose track of it by a reset. */
const isUnderWay = ({ held }: Slot): boolean =>
  held?.open === true || (held?.part.kind === 'tool' && held.part.outcome === null && 'text' in held.part.input);

function isAt(slot: Slot | undefined, entry: Entry | undefined, changed: string | null): boolean {
  if (!slot || !entry) return false;
  if (entry.kind === 'step') return slot.messageId === null;
  const { messageId } = entry.message;
  if (slot.messageId !== messageId || messageId === changed) return false;
  const { part } = entry;
  // A tool call whose name was taken may have its own again.
  return part.kind !== 'tool' || (slot.held?.part as { toolCallId?: string }).toolCallId === part.toolCallId;
}
