import type { Socket as TcpSocket } from 'node:net';
import type { EventBatch } from '../session/subscriber.js';
import { encodeEvents, type EncodedEvents } from './socket-frame.js';
import { currentWrite, tcpOf, transportOf, type EngineConnection } from './tcp-of.js';

/** Once so much lies in the socket's own buffer, what comes next waits here, where it can be counted. */
const SOCKET_BYTES = 64 * 1024;
/** So many times `maxOutboxBytes` is too much, however well it moves (SUB-7). */
const HARD_FACTOR = 16;
/** So long nothing moves before a full outbox is given up (SUB-7). */
const STUCK_MS = 10_000;

/**
 * What waits for one connection. Events go out as one ready frame, shared with the chat's other subscribers, straight to
 * the TCP socket while the engine has nothing of its own to send (docs/decisions/0002); otherwise through the engine.
 * Order holds either way. What a connection does not read is bounded (SUB-7).
 */
export class Outbox {
  #waiting: EncodedEvents[] = [];
  #waitingBytes = 0;
  readonly #tcp: TcpSocket | undefined;
  #isRetrying = false;
  #left = 0;
  #movedAt: number;

  constructor(
    private readonly connection: EngineConnection,
    private readonly needs: {
      readonly maxBytes: number;
      readonly isDirect: boolean;
      readonly monotonic: () => number;
      /** The connection cannot keep up; called at most once. */
      readonly onSlow: () => void;
    },
  ) {
    this.#tcp = needs.isDirect ? tcpOf(connection) : undefined;
    this.#tcp?.on('drain', this.#flush);
    this.#movedAt = needs.monotonic();
  }

  /** Bytes that wait here. */
  get bytes(): number {
    return this.#waitingBytes;
  }

  send(batch: EventBatch): void {
    const encoded = batch.encoded(encodeEvents);
    if (this.#waiting.length === 0 && this.#write(encoded)) return;
    this.#waiting.push(encoded);
    this.#waitingBytes += encoded.frame.length;
    this.#retry();
    this.check();
  }

  /** Looks whether the connection keeps up; called now and then while something waits. */
  check(): void {
    const tcp = this.#tcp ?? tcpOf(this.connection);
    const now = this.needs.monotonic();
    const write = tcp ? currentWrite(tcp) : { left: 0, length: 0 };
    const inSocket = tcp?.writableLength ?? 0;
    const behind = this.#waitingBytes + Math.max(0, inSocket - write.length);
    if (inSocket + this.#waitingBytes === 0 || write.left < this.#left) this.#movedAt = now;
    else if (write.left > this.#left && this.#left === 0) this.#movedAt = now;
    this.#left = write.left;
    const isStuck = behind > this.needs.maxBytes && now - this.#movedAt >= STUCK_MS;
    if (isStuck || behind > HARD_FACTOR * this.needs.maxBytes) this.needs.onSlow();
  }

  /** Forgets what waits. */
  close(): void {
    this.#tcp?.off('drain', this.#flush);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** @returns whether it went out */
  #write({ frame, packet }: EncodedEvents): boolean {
    const transport = transportOf(this.connection);
    const isFree = transport.writable && this.connection.readyState === 'open' && pendingOf(this.connection) === 0;
    if (!isFree) return false;
    if (!this.#tcp) {
      this.connection.write(packet, { compress: false });
      return true;
    }
    if (this.#tcp.writableLength >= SOCKET_BYTES) return false;
    this.#tcp.write(frame);
    return true;
  }

  readonly #flush = (): void => {
    if (this.#waiting.length === 0) return;
    this.#tcp?.cork();
    let sent = 0;
    for (const encoded of this.#waiting) {
      if (!this.#write(encoded)) break;
      this.#waitingBytes -= encoded.frame.length;
      sent++;
    }
    this.#tcp?.uncork();
    this.#waiting.splice(0, sent);
    if (this.#waiting.length > 0) this.#retry();
  };

  /** Tries again when the engine, or the socket below it, has room. */
  #retry(): void {
    const isEngineBusy = !transportOf(this.connection).writable || pendingOf(this.connection) > 0;
    if (!isEngineBusy || this.#isRetrying) return;
    this.#isRetrying = true;
    transportOf(this.connection).once('ready', () => {
      this.#isRetrying = false;
      this.#flush();
    });
  }
}

/** Packets that the engine has taken and not sent. */
const pendingOf = (connection: EngineConnection): number =>
  (connection as unknown as { writeBuffer: unknown[] }).writeBuffer.length;
