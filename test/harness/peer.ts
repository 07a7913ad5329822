import { randomBytes } from 'node:crypto';
import { io, type Socket } from 'socket.io-client';
import { onTestFinished } from 'vitest';
import type {
  Ack,
  AgentCommandName,
  AgentResult,
  CommandName,
  ErrorBody,
  Goaway,
  Hello,
  Result,
} from '../../protocol/index.js';

/** An id as agents make them: unique in the world. */
export const uid = (prefix = 'x'): string => `${prefix}-${randomBytes(12).toString('hex')}`;

/** Who a peer says it is (AUTH_MODE=none). */
export interface As {
  readonly userId?: string;
  readonly teamId?: string;
  readonly tenantId?: string;
  readonly roles?: readonly string[];
}

export class Refused extends Error {
  constructor(
    command: string,
    readonly error: ErrorBody,
  ) {
    super(`${command}: ${error.code}: ${error.message}`);
  }
}

/** A raw Socket.IO connection that speaks the protocol by hand: tests see exactly what is on the wire. */
export class Peer {
  socket!: Socket;
  hello: Hello | null = null;
  readonly goaways: Goaway[] = [];
  disconnectReason: string | null = null;

  constructor(
    readonly url: string,
    readonly namespace: '/' | '/agents',
    readonly as: As = {},
  ) {
    onTestFinished(() => this.close());
  }

  /** Connects (again). Listeners are set before, so nothing is missed. @throws {Error} with `data`, the error object of `connect_error` */
  async open(auth: Record<string, unknown> = {}, transports: string[] = ['websocket']): Promise<this> {
    this.socket?.disconnect();
    const socket = io(this.url + this.namespace, {
      auth: { protocol: 1, ...this.as, ...auth },
      forceNew: true,
      reconnection: false,
      transports,
    });
    this.socket = socket;
    this.disconnectReason = null;
    const greeted = new Promise<Hello>((resolve) => socket.once('hello', resolve));
    socket.on('goaway', (body: Goaway) => this.goaways.push(body));
    socket.on('disconnect', (reason) => (this.disconnectReason = reason));
    this.listen(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    this.hello = await greeted;
    return this;
  }

  protected listen(_socket: Socket): void {}

  /** The acknowledgement as it came. */
  ask(command: string, args?: unknown, ms = 15_000): Promise<Ack<never>> {
    const socket = this.socket.timeout(ms);
    return (args === undefined ? socket.emitWithAck(command) : socket.emitWithAck(command, args)) as Promise<
      Ack<never>
    >;
  }

  /** The data of a success. @throws {Refused} */
  do<N extends CommandName>(command: N, args?: unknown, ms?: number): Promise<Result<N>>;
  do<N extends AgentCommandName>(command: N, args?: unknown, ms?: number): Promise<AgentResult<N>>;
  do<T>(command: string, args?: unknown, ms?: number): Promise<T>;
  async do(command: string, args?: unknown, ms?: number): Promise<unknown> {
    const ack = await this.ask(command, args, ms);
    if (!ack.ok) throw new Refused(command, ack.error);
    return ack.data;
  }

  /** The error of a refusal. */
  async refused(command: string, args?: unknown): Promise<ErrorBody> {
    const ack = await this.ask(command, args);
    if (ack.ok) throw new Error(`${command} was not refused`);
    return ack.error;
  }

  /** Cuts the TCP connection without a word. */
  drop(): void {
    const { transport } = this.socket.io.engine as unknown as {
      transport: { ws?: { terminate?: () => void; close: () => void } };
    };
    if (transport.ws?.terminate) transport.ws.terminate();
    else transport.ws?.close();
  }

  close(): void {
    this.socket?.disconnect();
  }
}
