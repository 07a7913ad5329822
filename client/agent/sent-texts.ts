import { DEFAULT_PATH, type Op } from '../../protocol/index.js';

/** The messages of a frame whose content is known to be text: what is appended there fits, unless a limit is met. */
export class SentTexts {
  readonly #texts = new Set<string>();

  /** Whether no op of these can be refused for what it says. */
  isSafe(ops: readonly Op[]): boolean {
    return ops.every((op) => op.op === 'append' && isContent(op.path) && this.#texts.has(op.messageId));
  }

  note(ops: readonly Op[]): void {
    for (const op of ops) {
      switch (op.op) {
        case 'send':
        case 'replace':
          if (op.messageId === undefined) break;
          if (isText(op.props[DEFAULT_PATH])) this.#texts.add(op.messageId);
          else this.#texts.delete(op.messageId);
          break;
        case 'merge':
        case 'set':
        case 'end':
          this.#texts.delete(op.messageId);
          break;
        default:
          break;
      }
    }
  }

  /** These ops were refused: what they said of a message does not hold. */
  forget(ops: readonly Op[]): void {
    for (const op of ops)
      if ('messageId' in op && op.messageId !== undefined && op.op !== 'append') this.#texts.delete(op.messageId);
  }
}

const isContent = (path: string | undefined): boolean => path === undefined || path === '' || path === DEFAULT_PATH;
const isText = (content: unknown): boolean => content === undefined || typeof content === 'string';
