import type { MessageChange } from '../event.js';
import type { Message } from '../message.js';
import { textAt } from '../path.js';

/** A text up to this length is told with each word. */
const SHORT_LENGTH = 4096;
/** A longer one when it has grown by this part of itself: all that is told of it comes to some eight times its length. */
const GROWTH = 1 / 8;

/**
 * Activities whose long texts are growing. A JSON Patch cannot append: it brings the whole text each time, which for one that
 * is written word by word would be its length squared.
 */
export class HeldBack {
  /** Messages as the client holds them, where that is not how they are. */
  readonly #told = new Map<string, Message>();

  /** The message as the client holds it before a change, which is now told. */
  take(was: Message): Message {
    const told = this.#told.get(was.messageId) ?? was;
    this.#told.delete(was.messageId);
    return told;
  }

  /** Whether the change is told with a later one. */
  holds(was: Message, change: MessageChange): boolean {
    if (change.type !== 'message.appended') return false;
    const told = this.#told.get(was.messageId) ?? was;
    const length = change.from + change.text.length;
    if (length <= SHORT_LENGTH || length - textAt(told.props, change.path).length >= length * GROWTH) return false;
    this.#told.set(was.messageId, told);
    return true;
  }

  /** The client was told how everything is. */
  clear(): void {
    this.#told.clear();
  }
}
