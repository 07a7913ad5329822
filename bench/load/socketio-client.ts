import { FrameClient, type FrameTaker } from './frame-client.js';

const code = (character: string): number => character.charCodeAt(0);
const [OPEN, PING, MESSAGE] = [code('0'), code('2'), code('4')];
const [CONNECT, EVENT, ACK, CONNECT_ERROR] = [code('0'), code('2'), code('3'), code('4')];

/** Who the load says to be; Turnstream asks, a bare server does not look. */
const AUTH = JSON.stringify({ protocol: 1, userId: 'bench' });

export interface SocketIoOptions {
  readonly port: number;
  /** Joined by a bare server when the connection is made. */
  readonly chat?: string;
  /** Takes the payload of every event, Socket.IO's own prefix included. */
  readonly onEvent?: FrameTaker;
  readonly headers?: readonly string[];
}

/** As much of Socket.IO over WebSocket as a load needs: the handshake, heartbeats, commands with their answers. */
export class SocketIoClient {
  /** Resolves when the namespace is joined. */
  readonly joined: Promise<void>;
  /** Resolves with the first event: Turnstream's `hello`. */
  readonly greeted: Promise<void>;
  readonly #client: FrameClient;
  readonly #asked = new Map<number, { resolve: (answer: string) => void; reject: (error: Error) => void }>();
  #lastAsked = 0;
  #hasJoined!: { resolve: () => void; reject: (error: Error) => void };
  #greet: (() => void) | null = null;

  constructor(private readonly options: SocketIoOptions) {
    const { port, chat, headers } = options;
    const query = chat === undefined ? '' : `&chat=${encodeURIComponent(chat)}`;
    this.joined = new Promise((resolve, reject) => (this.#hasJoined = { resolve, reject }));
    this.greeted = new Promise((resolve) => (this.#greet = resolve));
    this.#client = new FrameClient(port, `/socket.io/?EIO=4&transport=websocket${query}`, this.#packet, headers);
    this.#client.opened.catch((error: Error) => this.#hasJoined.reject(error));
    void this.#client.closed.then(() => {
      for (const { reject } of this.#asked.values()) reject(new Error('the server has closed the connection'));
    });
  }

  /** Resolves when the other side has closed it. */
  get closed(): Promise<void> {
    return this.#client.closed;
  }

  /** The answer as it came. @throws {Error} when the connection is closed before */
  ask(command: string, args: unknown): Promise<string> {
    const id = ++this.#lastAsked;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#client.send(`42${id}${JSON.stringify([command, args])}`);
    });
  }

  /** The data of a success. @throws {Error} a refusal */
  async do<T = unknown>(command: string, args: unknown): Promise<T> {
    const [ack] = JSON.parse(await this.ask(command, args)) as [{ ok: true; data: T } | { ok: false; error: unknown }];
    if (!ack.ok) throw new Error(`${command}: ${JSON.stringify(ack.error)}`);
    return ack.data;
  }

  close(): void {
    this.#client.close();
  }

  readonly #packet: FrameTaker = (bytes, from, to) => {
    const kind = bytes[from];
    if (kind === PING) this.#client.send('3');
    else if (kind === OPEN) this.#client.send(`40${AUTH}`);
    else if (kind === MESSAGE) this.#message(bytes, from + 1, to);
  };

  #message(bytes: Buffer, from: number, to: number): void {
    const kind = bytes[from];
    if (kind === EVENT) {
      if (this.#greet) {
        this.#greet();
        this.#greet = null;
      }
      this.options.onEvent?.(bytes, from, to);
    } else if (kind === ACK) {
      const text = bytes.toString('utf8', from + 1, to);
      const body = text.indexOf('[');
      const id = Number(text.slice(0, body));
      const answer = this.#asked.get(id);
      this.#asked.delete(id);
      answer?.resolve(text.slice(body));
    } else if (kind === CONNECT) this.#hasJoined.resolve();
    else if (kind === CONNECT_ERROR) this.#hasJoined.reject(new Error(bytes.toString('utf8', from, to)));
  }
}
