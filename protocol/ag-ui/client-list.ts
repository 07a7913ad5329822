import type { AgUiEvent } from './event.js';
import type { AgUiMessage } from './message.js';
import { snapshotOf } from './snapshot.js';

interface Entry {
  readonly id: string;
  readonly role: string;
}

/**
 * The messages that the stock client holds, in its order, as far as it has told and was told. A snapshot changes what it
 * holds in place and adds the rest at the end: so, where that would put messages out of their order, the list is emptied
 * before it.
 */
export class ClientList {
  #entries: Entry[];

  constructor(sent: readonly Entry[]) {
    this.#entries = sent.map(({ id, role }) => ({ id, role }));
  }

  /** The events after which the client holds these. */
  snapshot(messages: readonly AgUiMessage[]): AgUiEvent[] {
    const shown = snapshotOf(messages);
    const isInOrder = isSameOrder(afterSnapshot(this.#entries, shown.messages), shown.messages);
    const events = isInOrder ? [shown] : [emptying(shown.messages), shown];
    for (const { messages: told } of events) this.#entries = afterSnapshot(this.#entries, told);
    return events;
  }

  /** It was told other events. */
  note(events: readonly AgUiEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
          this.#add({ id: event.messageId, role: event.role });
          break;
        case 'REASONING_MESSAGE_START':
          this.#add({ id: event.messageId, role: 'reasoning' });
          break;
        case 'TOOL_CALL_START':
          this.#add({ id: event.parentMessageId, role: 'assistant' });
          break;
        case 'ACTIVITY_SNAPSHOT':
          this.#add({ id: event.messageId, role: 'activity' });
          break;
        case 'TOOL_CALL_RESULT':
          this.#add({ id: event.messageId, role: 'tool' }, event.toolCallId);
          break;
        default:
      }
    }
  }

  /** @param behind the message whose result it is: there is one result of each */
  #add(entry: Entry, behind?: string): void {
    if (this.#entries.some(({ id }) => id === entry.id)) return;
    const place = this.#entries.findIndex(({ id }) => id === behind);
    this.#entries.splice(place === -1 ? this.#entries.length : place + 1, 0, entry);
  }
}

/** What the client makes of a snapshot: it keeps thoughts that it holds, unless the snapshot has thoughts of its own. */
function afterSnapshot(held: readonly Entry[], shown: readonly Entry[]): Entry[] {
  const ids = new Set(shown.map(({ id }) => id));
  const hasThoughts = shown.some(isThought);
  const kept = held.filter((entry) => ids.has(entry.id) || (isThought(entry) && !hasThoughts));
  const keptIds = new Set(kept.map(({ id }) => id));
  return [...kept, ...shown.filter(({ id }) => !keptIds.has(id))];
}

const isThought = ({ role }: Entry): boolean => role === 'reasoning';

function isSameOrder(list: readonly Entry[], shown: readonly Entry[]): boolean {
  const ids = new Set(shown.map(({ id }) => id));
  return list.filter(({ id }) => ids.has(id)).every(({ id }, index) => id === shown[index]?.id);
}

/** A snapshot of nothing. Thoughts are given up only for another thought, which goes with the next one. */
const emptying = (next: readonly AgUiMessage[]) =>
  snapshotOf(next.some(isThought) ? [{ id: 'emptied', role: 'reasoning', content: '' }] : []);
