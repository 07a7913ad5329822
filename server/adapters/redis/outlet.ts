/** Characters of messages that one entry holds, unless it is a single one. */
const MAX_ENTRY_CHARS = 256 * 1024;

/**
 * How often a receiver is told how many there were, every `countMs`: a count can be lost, too, with what it counts. One that
 * reads nothing for longer than all of them take is declared dead (LIF-4).
 */
const COUNTS = 5;

/** Messages that go out together, and the number of the first of them. */
export interface Parcel {
  readonly first: number;
  readonly messages: readonly string[];
}

/**
 * What goes to one receiver: messages keep their place here until Redis has answered for them, so that they are sent again
 * where a connection broke in between. Their numbers let the receiver drop what comes twice.
 */
export class Outlet {
  /** Messages not answered for, in order; `#first` is the number of the first of them. */
  #waiting: string[] = [];
  #first = 1;
  #waitingChars = 0;
  /** How many of them were sent on the present connection. */
  #sent = 0;
  /** The receiver has to be told how many there were, since some may be lost. */
  #isCountDue = false;
  /** So often it is yet to be told after the last of them. */
  #countsLeft = 0;

  constructor(private readonly maxWaitingChars: number) {}

  get isIdle(): boolean {
    return this.#sent === this.#waiting.length && !this.#isCountDue;
  }

  /** Messages without a place push out those that wait: the receiver learns that there is a gap. */
  add(message: string): void {
    this.#countsLeft = COUNTS;
    if (this.#waitingChars + message.length > this.maxWaitingChars && this.#waiting.length > 0) {
      this.#drop(this.#waiting.length);
      this.#isCountDue = true;
    }
    this.#waiting.push(message);
    this.#waitingChars += message.length;
  }

  /** What is sent next; null where nothing is. */
  next(): Parcel | null {
    if (this.isIdle) return null;
    const first = this.#first + this.#sent;
    let chars = 0;
    let end = this.#sent;
    do {
      chars += this.#waiting[end]?.length ?? 0;
      end += 1;
    } while (end < this.#waiting.length && chars + (this.#waiting[end]?.length ?? 0) <= MAX_ENTRY_CHARS);
    const messages = this.#waiting.slice(this.#sent, end);
    this.#sent += messages.length;
    this.#isCountDue = false;
    return { first, messages };
  }

  /** Redis has it. */
  answered({ first, messages }: Parcel): void {
    // Some may have been pushed out meanwhile.
    this.#drop(Math.max(0, first + messages.length - this.#first));
  }

  /** A new connection: what is not answered for is sent again, or else how many there were. */
  again(): void {
    this.#sent = 0;
    this.#isCountDue = true;
  }

  /** Tells the receiver how many there were. @returns whether it has to be told again later */
  sayCount(): boolean {
    if (this.#countsLeft === 0) return false;
    this.#isCountDue = true;
    return --this.#countsLeft > 0;
  }

  #drop(count: number): void {
    for (const message of this.#waiting.splice(0, count)) this.#waitingChars -= message.length;
    this.#first += count;
    this.#sent = Math.max(0, this.#sent - count);
  }
}
