import type { Socket as TcpSocket } from 'node:net';
import { HARD_FACTOR, STUCK_MS } from './outbox-bounds.js';
import type { EncodedEvent } from './socket-frame.js';
import { progressOf, tcpOf, transportOf, type EngineConnection } from './tcp-of.js';

/** Once so much lies in the socket's own buffer, what comes next waits here, where it can be counted. */
const SOCKET_BYTES = 64 * 1024;

/**
 * What waits for one connection. Events go out as one ready frame, shared with the chat's other subscribers, straight to
 * the TCP socket while the engine has nothing of its own to send (docs/decisions/0002); otherwise through the engine.
 * Order holds either way. What a connection does not read is bounded (SUB-7).
 */
export class Outbox {
  #waiting: { readonly encoded: EncodedEvent; readonly of: object }[] = [];
  #waitingBytes = 0;
  #engineBytes = 0;
  #isClosed = false;
  #isHeld = false;
  readonly #tcp: TcpSocket | undefined;
  #isRetrying = false;
  /** At the last look: bytes that the kernel had taken, and whether nothing waited. */
  #taken = 0;
  #wasIdle = true;
  #movedAt: number;

  constructor(
    private readonly connection: EngineConnection,
    private readonly needs: {
      readonly maxBytes: number;
      readonly isDirect: boolean;
      readonly monotonic: () => number;
      /** The connection cannot keep up; called at each look until the outbox is closed. */
      readonly onSlow: () => void;
    },
  ) {
    this.#tcp = needs.isDirect ? tcpOf(connection) : undefined;
    this.#tcp?.on('drain', this.#flush);
    connection.on('packetCreate', this.#engineTook);
    connection.on('flush', this.#engineSent);
    this.#movedAt = needs.monotonic();
  }

  /** Bytes that wait in this process, before the socket. */
  get bytes(): number {
    return this.#waitingBytes + this.#engineBytes;
  }

  /** Sends an event after all that was sent here before. `of` names what it is part of, for `forget`. */
  send(encoded: EncodedEvent, of: object): void {
    if (this.#waiting.length === 0 && this.#write(encoded)) return;
    this.#waiting.push({ encoded, of });
    this.#waitingBytes += encoded.frame.length;
    this.#retry();
    this.check();
  }

  /** Sends nothing until it is released. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Sends nothing more of this, not what waits either. */
  forget(of: object): void {
    for (const one of this.#waiting) if (one.of === of) this.#waitingBytes -= one.encoded.frame.length;
    this.#waiting = this.#waiting.filter((one) => one.of !== of);
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#flush();
  }

  /** Looks whether the connection keeps up; called now and then while something waits. */
  check(): void {
    if (this.#isClosed) return;
    const tcp = this.#tcp ?? tcpOf(this.connection);
    const now = this.needs.monotonic();
    const progress = tcp ? progressOf(tcp) : { taken: 0, behind: 0 };
    const behind = this.bytes + progress.behind;
    const isIdle = this.bytes + (tcp?.writableLength ?? 0) === 0;
    if (isIdle || this.#wasIdle || progress.taken > this.#taken) this.#movedAt = now;
    this.#wasIdle = isIdle;
    this.#taken = progress.taken;
    const isStuck = behind > this.needs.maxBytes && now - this.#movedAt >= STUCK_MS;
    if (isStuck || behind > HARD_FACTOR * this.needs.maxBytes) this.needs.onSlow();
  }

  /** Forgets what waits. */
  close(): void {
    this.#isClosed = true;
    this.#tcp?.off('drain', this.#flush);
    this.connection.off('packetCreate', this.#engineTook);
    this.connection.off('flush', this.#engineSent);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#engineBytes = 0;
  }

  /** Acks and greetings go through the engine, which keeps them until its transport is free. Counted in characters. */
  readonly #engineTook = ({ data }: { readonly data?: unknown }): void => {
    if (typeof data === 'string') this.#engineBytes += data.length;
  };

  readonly #engineSent = (): void => {
    this.#engineBytes = 0;
    // Long-polling shows no other sign of moving.
    if (!tcpOf(this.connection)) this.#movedAt = this.needs.monotonic();
  };

  /** @returns whether it went out */
  #write({ frame, packet }: EncodedEvent): boolean {
    if (this.#isHeld) return false;
    const transport = transportOf(this.connection);
    const isFree = transport.writable && this.connection.readyState === 'open' && pendingOf(this.connection) === 0;
    if (!isFree) return false;
    if (!this.#tcp) {
      // Socket.IO's own adapter gives the engine frames in this way: over WebSocket it encodes nothing itself.
      const options = { compress: false, wsPreEncodedFrame: [frame] };
      this.connection.write(packet, options);
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
    for (const { encoded } of this.#waiting) {
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
