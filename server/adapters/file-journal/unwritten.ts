/** Small commits are joined up to this, so that a long outage is caught up with in few writes. UTF-16 units. */
const CHUNK_LENGTH = 1 << 20;

/** What was committed and has not reached the file, in order. It may be large: whoever commits is who bounds it. */
export class Unwritten {
  #chunks: Buffer[] = [];
  #tail = '';

  get empty(): boolean {
    return this.#chunks.length === 0 && this.#tail === '';
  }

  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, Buffer.byteLength(this.#tail));
  }

  push(text: string): void {
    this.#tail += text;
    if (this.#tail.length >= CHUNK_LENGTH) this.#seal();
  }

  /** The bytes to write next; the same ones until `written` says otherwise. */
  front(): Buffer | undefined {
    if (this.#chunks.length === 0 && this.#tail !== '') this.#seal();
    return this.#chunks[0];
  }

  /** The first `count` bytes of `front` are in the file: what follows starts exactly behind them. */
  written(count: number): void {
    const front = this.#chunks[0];
    if (!front) return;
    if (count < front.length) this.#chunks[0] = front.subarray(count);
    else this.#chunks.shift();
  }

  clear(): void {
    this.#chunks = [];
    this.#tail = '';
  }

  #seal(): void {
    this.#chunks.push(Buffer.from(this.#tail));
    this.#tail = '';
  }
}
