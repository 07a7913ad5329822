import { MAX_PUSHES_IN_FLIGHT, type ChatError, type Op } from '../../protocol/index.js';

/** Ops that one caller pushed together: applied all or none, answered as one. */
export interface Piece {
  readonly ops: readonly Op[];
  /** Size of their JSON. */
  readonly bytes: number;
  readonly applied: () => void;
  readonly refused: (error: ChatError) => void;
}

/** A command with a seq that is no push: `turn:close`, `turn:delegate`. */
export interface Call {
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number | null;
  readonly answered: (data: unknown) => void;
  readonly refused: (error: ChatError) => void;
}

/** What has a seq and no answer yet. `flight` names the sending whose answer counts; null while it is not on its way. */
export interface Sent {
  seq: number;
  readonly content:
    { readonly kind: 'push'; readonly pieces: readonly Piece[] } | { readonly kind: 'call'; readonly call: Call };
  flight: object | null;
}

export interface PushBounds {
  /** Bytes of ops that one push may carry. */
  readonly maxPushBytes: number;
  readonly maxPushOps: number;
}

/**
 * The order of a frame (AGT-1), and nothing else: what waits, what was sent and under which seq. A seq is used up by what
 * the server applied, never by what it refused; so after a refusal everything behind it moves up, and goes again.
 */
export class PushLine {
  readonly #waiting: (Piece | Call)[] = [];
  #sent: Sent[] = [];
  #nextSeq = 1;
  #ops = 0;
  #bytes = 0;

  /** Ops that are not applied yet. */
  get ops(): number {
    return this.#ops;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get hasPushes(): boolean {
    return this.#ops > 0;
  }

  add(item: Piece | Call): void {
    if ('ops' in item) this.#count(item, 1);
    this.#waiting.push(item);
  }

  /** The next thing to be put on its way, or null: nothing is left, or {@link MAX_PUSHES_IN_FLIGHT} are under way (AGT-6). */
  next({ maxPushBytes, maxPushOps }: PushBounds): Sent | null {
    const again = this.#sent.find(({ flight }) => flight === null);
    const head = this.#waiting[0];
    const isPush = again ? again.content.kind === 'push' : head !== undefined && 'ops' in head;
    if (isPush && this.#pushesInFlight >= MAX_PUSHES_IN_FLIGHT) return null;
    if (again) return again;
    if (!head) return null;
    if (!('ops' in head)) {
      this.#waiting.shift();
      return this.#append({ kind: 'call', call: head });
    }
    const pieces: Piece[] = [];
    let ops = 0;
    let bytes = 0;
    for (let piece = this.#waiting[0]; piece && 'ops' in piece; piece = this.#waiting[0]) {
      ops += piece.ops.length;
      bytes += piece.bytes;
      if (pieces.length > 0 && (ops > maxPushOps || bytes > maxPushBytes)) break;
      pieces.push(piece);
      this.#waiting.shift();
    }
    return this.#append({ kind: 'push', pieces });
  }

  /** The server applied it (and answered, if it is a call). */
  done(item: Sent): void {
    this.#sent = this.#sent.filter((other) => other !== item);
    if (item.content.kind === 'push') this.#applied(item.content.pieces);
  }

  /** The server refused it: what is behind it moves up and goes again. Of a push, `guilty` goes, and the rest as before. */
  refuse(item: Sent, guilty: readonly Piece[]): void {
    const at = this.#sent.indexOf(item);
    if (at < 0) return;
    const behind = this.#sent.slice(at + 1);
    const rest = item.content.kind === 'push' ? item.content.pieces.filter((piece) => !guilty.includes(piece)) : [];
    const stays: Sent[] = rest.length > 0 ? [{ seq: 0, content: { kind: 'push', pieces: rest }, flight: null }] : [];
    this.#renumber(at, item.seq, [...stays, ...behind]);
    for (const piece of guilty) this.#count(piece, -1);
  }

  /** Sends each piece of a refused push by itself, so that only the guilty one is refused (AGT-2). */
  split(item: Sent): void {
    const at = this.#sent.indexOf(item);
    if (at < 0 || item.content.kind !== 'push') return;
    const single = item.content.pieces.map((piece): Sent => ({
      seq: 0,
      content: { kind: 'push', pieces: [piece] },
      flight: null,
    }));
    this.#renumber(at, item.seq, [...single, ...this.#sent.slice(at + 1)]);
  }

  /** Whatever is under way goes again: the connection was lost, or an answer. */
  resend(): void {
    for (const item of this.#sent) item.flight = null;
  }

  /**
   * The server has applied everything up to `lastSeq`. Calls among it go again for their answers, which a repeated seq is
   * given; what follows goes again, too.
   *
   * @returns false where this cannot be: the server has more than was sent, or lacks what it had
   */
  resync(lastSeq: number): boolean {
    if (lastSeq >= this.#nextSeq) return false;
    this.resend();
    for (const item of [...this.#sent]) if (item.seq <= lastSeq && item.content.kind === 'push') this.done(item);
    const first = this.#sent.find(({ seq }) => seq > lastSeq);
    return (first?.seq ?? this.#nextSeq) === lastSeq + 1;
  }

  /** Takes out everything. */
  clear(): readonly (Piece | Call)[] {
    const held = this.#sent.flatMap(({ content }): readonly (Piece | Call)[] =>
      content.kind === 'push' ? content.pieces : [content.call],
    );
    const all = [...held, ...this.#waiting.splice(0)];
    this.#sent = [];
    this.#ops = 0;
    this.#bytes = 0;
    return all;
  }

  get #pushesInFlight(): number {
    return this.#sent.filter(({ flight, content }) => flight !== null && content.kind === 'push').length;
  }

  #append(content: Sent['content']): Sent {
    const item: Sent = { seq: this.#nextSeq++, content, flight: null };
    this.#sent.push(item);
    return item;
  }

  #renumber(at: number, from: number, items: readonly Sent[]): void {
    let seq = from;
    for (const item of items) {
      item.seq = seq++;
      item.flight = null;
    }
    this.#sent = [...this.#sent.slice(0, at), ...items];
    this.#nextSeq = seq;
  }

  #applied(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      this.#count(piece, -1);
      piece.applied();
    }
  }

  #count({ ops, bytes }: Piece, sign: 1 | -1): void {
    this.#ops += sign * ops.length;
    this.#bytes += sign * bytes;
  }
}
