const TEXT = 1;

/** Parts what a server sends over one connection into its HTTP answer and its WebSocket frames (RFC 6455, unmasked). */
export class FrameReader {
  #bytes = Buffer.alloc(0);
  #isUpgraded = false;

  /** @param take given each part in order, with its payload where it is a text frame */
  constructor(private readonly take: (bytes: Buffer, text: string | null) => void) {}

  read(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (let length = this.#next(); length > 0 && length <= this.#bytes.length; length = this.#next()) {
      const part = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      const isText = this.#isUpgraded && (part[0] ?? 0) % 16 === TEXT;
      this.#isUpgraded = true;
      this.take(part, isText ? part.subarray(headBytes(part)).toString() : null);
    }
  }

  /** Bytes of the next part, 0 while its beginning is not here. */
  #next(): number {
    if (!this.#isUpgraded) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      return end < 0 ? 0 : end + 4;
    }
    const head = headBytes(this.#bytes);
    if (this.#bytes.length < head) return 0;
    if (head === 2) return head + (this.#bytes[1] ?? 0);
    return head + (head === 4 ? this.#bytes.readUInt16BE(2) : Number(this.#bytes.readBigUInt64BE(2)));
  }
}

function headBytes(frame: Buffer): number {
  const length = frame[1] ?? 0;
  return length < 126 ? 2 : length === 126 ? 4 : 10;
}
