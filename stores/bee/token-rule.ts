import type { BeeFramework, BeeMessage, FatalError, TokenSources } from './framework.js';
import type { Window } from './mirror.js';
import type { Row } from './row.js';
import { inserted, windowOf, without, type Rows, type Rule } from './rule.js';

export interface TokenHandlers<M> {
  /** A guess, until the tokens are counted. */
  readonly estimate?: ((message: M) => number) | undefined;
  /** Chooses the message that has to go. The messages are a copy. */
  readonly removalSelector?: ((messages: M[]) => M | null | undefined) | undefined;
  /** In the present generation: what counts. */
  readonly tokenize?: ((messages: M[]) => Promise<number>) | undefined;
}

export interface TokenSettings<M, L> extends TokenSources<M, L> {
  readonly maxTokens: number | null;
  readonly syncThreshold: number;
  readonly handlers: TokenHandlers<M>;
}

interface Count {
  readonly tokensCount: number;
  /** It is a guess. */
  readonly dirty: boolean;
}

/** Holds as many messages as their tokens have room. Counts are of this program: what was read is guessed again. */
export class TokenRule<M extends BeeMessage, L> implements Rule<M> {
  maxTokens: number | null;
  readonly #counts = new WeakMap<M, Count>();

  constructor(
    private readonly framework: BeeFramework<M, object, L>,
    private readonly settings: TokenSettings<M, L>,
  ) {
    this.maxTokens = settings.maxTokens;
  }

  admit(row: Row<M>, index: number | undefined, rows: Rows<M>): Rows<M> | Promise<Rows<M>> {
    const max = this.#max();
    if (typeof max !== 'number') return max.then((known) => this.#admit(row, index, rows, known));
    return this.#admit(row, index, rows, max);
  }

  /** Counts what is guessed; where the counts leave no room, the selector's go. @throws {MemoryFatalError} for one that cannot fit */
  async synced(rows: Rows<M>): Promise<Rows<M>> {
    return this.#synced(rows, await this.#max());
  }

  /**
   * As if they had been added one after the other, with guessed counts. Where the selector does not help the oldest go;
   * where the model cannot say how much there is room for, all are shown, and the next add tells why. What was shown stays.
   */
  async window(rows: Rows<M>, shown: Rows<M>): Promise<Window<M>> {
    const stays = new Set(shown);
    const max = rows.length === 0 ? Infinity : await Promise.resolve(this.#max()).catch(() => Infinity);
    let kept: Rows<M> = [];
    for (const row of rows) {
      const { tokensCount } = this.#guess(row.message);
      if (stays.has(row)) kept = [...kept, row];
      else if (tokensCount <= max) kept = [...this.#withRoomAnyhow(kept, tokensCount, max), row];
    }
    return windowOf(rows, kept);
  }

  used(rows: Rows<M>): number {
    return rows.reduce((sum, { message }) => sum + this.#guess(message).tokensCount, 0);
  }

  isDirty(rows: Rows<M>): boolean {
    return rows.some(({ message }) => this.#isGuessed(message));
  }

  forget(rows: Rows<M>): void {
    for (const { message } of rows) this.#counts.delete(message);
  }

  /** Takes over what another rule knows of the messages. */
  learn(other: TokenRule<M, L>, messages: readonly M[]): void {
    this.maxTokens = other.maxTokens;
    for (const message of messages) {
      const count = other.#counts.get(message);
      if (count) this.#counts.set(message, count);
    }
  }

  get #Fatal(): FatalError {
    return this.framework.MemoryFatalError;
  }

  #max(): number | Promise<number> {
    if (this.maxTokens !== null) return this.maxTokens;
    const found = this.framework.maxTokens(this.settings);
    if (typeof found === 'number') return (this.maxTokens = found);
    return found.then((max) => (this.maxTokens = max));
  }

  #admit(row: Row<M>, index: number | undefined, rows: Rows<M>, max: number): Rows<M> | Promise<Rows<M>> {
    const { message } = row;
    const { tokensCount } = this.#guess(message);
    if (tokensCount > max) throw this.#cannotFit(tokensCount, max);
    const next = inserted(this.#withRoom(rows, tokensCount, max), row, index);
    const isDue = this.isDirty(next) && this.used(next) / max >= this.settings.syncThreshold;
    return isDue ? this.#synced(next, max) : next;
  }

  async #synced(rows: Rows<M>, max: number): Promise<Rows<M>> {
    const guessed = rows.map(({ message }) => message).filter((message) => this.#isGuessed(message));
    const counts = await Promise.all(guessed.map((message) => this.framework.countTokens(message, this.settings)));
    for (const [index, message] of guessed.entries())
      this.#counts.set(message, { tokensCount: counts[index] ?? 0, dirty: false });
    let kept: Rows<M> = [];
    for (const row of rows) {
      const { tokensCount } = this.#guess(row.message);
      if (tokensCount > max) throw this.#cannotFit(tokensCount, max);
      kept = [...this.#withRoom(kept, tokensCount, max), row];
    }
    return kept;
  }

  #withRoom(rows: Rows<M>, tokens: number, max: number): Rows<M> {
    let kept = rows;
    while (this.used(kept) > max - tokens) {
      const messages = kept.map(({ message }) => message);
      const { removalSelector = oldest } = this.settings.handlers;
      const message = removalSelector(messages);
      const rest = message ? without(kept, message) : kept;
      if (rest === kept) throw new this.#Fatal('The "removalSelector" handler must return a valid message!');
      kept = rest;
    }
    return kept;
  }

  #withRoomAnyhow(rows: Rows<M>, tokens: number, max: number): Rows<M> {
    try {
      return this.#withRoom(rows, tokens, max);
    } catch (error) {
      if (!(error instanceof this.#Fatal)) throw error;
      let kept = rows;
      while (this.used(kept) > max - tokens) kept = kept.slice(1);
      return kept;
    }
  }

  /** What was never looked at is a guess too. */
  #isGuessed(message: M): boolean {
    return this.#counts.get(message)?.dirty !== false;
  }

  #guess(message: M): Count {
    const known = this.#counts.get(message);
    if (known) return known;
    const { estimate = quarter } = this.settings.handlers;
    const count = { tokensCount: estimate(message), dirty: true };
    this.#counts.set(message, count);
    return count;
  }

  #cannotFit(tokens: number, max: number): Error {
    return new this.#Fatal(`Retrieved message (${tokens} tokens) cannot fit inside current memory (${max} tokens)`);
  }
}

const oldest = <M>(messages: M[]): M | undefined => messages[0];
const quarter = ({ role, text }: BeeMessage): number => Math.ceil((role.length + text.length) / 4);
