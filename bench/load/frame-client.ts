import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Takes the payload of a text frame: bytes `from` to `to`, valid until it returns. */
export type FrameTaker = (bytes: Buffer, from: number, to: number) => void;

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** One for all connections: what is read is taken before anything else can be read. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * A WebSocket client that only walks frame headers, so that a load of thousands of connections costs less than the server
 * that serves them.
 */
export class FrameClient {
  readonly opened: Promise<void>;
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<void>;
  readonly #tcp: Socket;
  #rest: Buffer | null = null;
  #isUpgraded = false;
  /** This side has closed it. */
  #isOver = false;
  #settle!: { resolve: () => void; reject: (error: Error) => void };

  constructor(
    port: number,
    path: string,
    private readonly onText: FrameTaker,
    headers: readonly string[] = [],
  ) {
    this.opened = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#tcp = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: shared,
        callback: (length, bytes) => {
          this.#take(bytes as Buffer, length);
          return true;
        },
      },
    });
    this.#tcp.setNoDelay(true);
    this.#tcp.on('error', (error) => this.#settle.reject(error));
    this.closed = new Promise((resolve) =>
      this.#tcp.on('close', () => {
        this.#settle.reject(new Error('the connection was closed'));
        if (!this.#isOver) resolve();
      }),
    );
    this.#tcp.write(
      [
        `GET ${path} HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        'Sec-WebSocket-Version: 13',
        ...headers,
        '\r\n',
      ].join('\r\n'),
    );
  }

  send(text: string): void {
    this.#tcp.write(maskedFrame(TEXT, Buffer.from(text)));
  }

  close(): void {
    this.#isOver = true;
    this.#tcp.destroy();
  }

  #take(read: Buffer, length: number): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, read.subarray(0, length)]) : read;
    const end = this.#rest ? bytes.length : length;
    this.#rest = null;
    const at = this.#walk(bytes, this.#isUpgraded ? 0 : this.#upgrade(bytes, end), end);
    if (at < end) this.#rest = Buffer.from(bytes.subarray(at, end));
  }

  /** @returns where the first frame begins; 0 while the answer is not complete */
  #upgrade(bytes: Buffer, end: number): number {
    const head = bytes.toString('latin1', 0, end);
    const length = head.indexOf('\r\n\r\n');
    if (length < 0) return 0;
    if (!head.startsWith('HTTP/1.1 101')) {
      this.#settle.reject(new Error(`the server answered ${head.slice(0, head.indexOf('\r\n'))}`));
      this.close();
      return end;
    }
    this.#isUpgraded = true;
    this.#settle.resolve();
    return length + 4;
  }

  /** @returns where the first incomplete frame begins */
  #walk(bytes: Buffer, from: number, end: number): number {
    if (!this.#isUpgraded) return from;
    let at = from;
    while (end - at >= 2) {
      const short = (bytes[at + 1] as number) & 0x7f;
      const header = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (end - at < header) break;
      const length =
        header === 2 ? short : header === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
      const next = at + header + length;
      if (end < next) break;
      this.#frame((bytes[at] as number) & 0x0f, bytes, at + header, next);
      at = next;
    }
    return at;
  }

  #frame(opcode: number, bytes: Buffer, from: number, to: number): void {
    if (opcode === TEXT) this.onText(bytes, from, to);
    else if (opcode === PING) this.#tcp.write(maskedFrame(PONG, bytes.subarray(from, to)));
    else if (opcode === CLOSE) this.#tcp.destroy();
  }
}

/** A client's frame. The mask is zero: allowed, and free. */
function maskedFrame(opcode: number, payload: Buffer): Buffer {
  const isLong = payload.length > 125;
  const header = isLong ? 8 : 6;
  const frame = Buffer.alloc(header + payload.length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (isLong ? 126 : payload.length);
  if (isLong) frame.writeUInt16BE(payload.length, 2);
  payload.copy(frame, header);
  return frame;
}
