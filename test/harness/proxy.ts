import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { FrameReader } from './frame-reader.js';
import { until } from './until.js';

/** What becomes of a frame that the server sends: it goes on, it waits for `release`, or it is lost with its connection. */
export type Fate = 'pass' | 'hold' | 'cut';

/** Parts what a server sends. */
type Reading = (take: (bytes: Buffer, text: string | null) => void) => { read(bytes: Buffer): void };

/** Frames of WebSocket. */
const asFrames: Reading = (take) => new FrameReader(take);
/** For any other protocol: bytes as they come. */
export const asBytes: Reading = (take) => ({ read: (bytes) => take(bytes, bytes.toString()) });

/** One connection through the proxy: the client's side and the server's. */
interface Passage {
  readonly client: Socket;
  readonly server: Socket;
  readonly held: Buffer[];
  isFrozen: boolean;
}

/**
 * A network between a client and a server that does what a test says: it cuts, freezes (nothing moves, nobody is told)
 * and delays single frames, so that later ones overtake them.
 */
export class Proxy {
  /** How many connections were made through it. */
  connections = 0;
  /** Whether new connections reach the server; else they are refused at once. */
  isUp = true;
  /** Asked about each text frame of the server (or its bytes), in order. */
  fate: (frame: string) => Fate = () => 'pass';
  readonly #passages = new Set<Passage>();
  readonly #listener: Server;

  private constructor(
    private readonly port: number,
    private readonly reading: Reading,
  ) {
    this.#listener = createServer((client) => this.#accept(client));
    onTestFinished(() => {
      this.#listener.close();
      this.cut();
    });
  }

  /** @param url where the server listens */
  static async to(url: string, reading = asFrames): Promise<Proxy> {
    const proxy = new Proxy(Number(new URL(url).port), reading);
    await new Promise<void>((resolve) => proxy.#listener.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Where the server sees each connection come from. */
  get addresses(): string[] {
    return [...this.#passages].map(({ server }) => `${server.localAddress}:${server.localPort}`);
  }

  /** Frames that wait. */
  get held(): number {
    return [...this.#passages].reduce((sum, { held }) => sum + held.length, 0);
  }

  /** Ends every connection without a word. */
  cut(): void {
    for (const passage of this.#passages) this.#end(passage);
  }

  /** Nothing moves on the present connections, in either direction, until {@link thaw}; new ones are as always. */
  freeze(): void {
    for (const passage of this.#passages) {
      passage.isFrozen = true;
      passage.client.pause();
      passage.server.pause();
    }
  }

  thaw(): void {
    for (const passage of this.#passages) {
      passage.isFrozen = false;
      passage.client.resume();
      passage.server.resume();
    }
  }

  /** Lets the frames go that were held, and holds no more. */
  release(): void {
    this.fate = () => 'pass';
    for (const { held, client } of this.#passages) for (const frame of held.splice(0)) client.write(frame);
  }

  /** Waits until so many frames are held. */
  async holds(frames: number): Promise<void> {
    await until(() => this.held >= frames, `${frames} frames that are held`);
  }

  #accept(client: Socket): void {
    if (!this.isUp) return void client.destroy();
    this.connections++;
    const passage: Passage = { client, server: connect(this.port, '127.0.0.1'), held: [], isFrozen: false };
    this.#passages.add(passage);
    const reader = this.reading((frame, text) => this.#decide(passage, frame, text));
    client.on('data', (bytes) => passage.server.write(bytes));
    passage.server.on('data', (bytes: Buffer) => reader.read(bytes));
    for (const socket of [client, passage.server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        // A connection that is frozen does not tell one side that the other has gone.
        if (!passage.isFrozen) this.#end(passage);
      });
    }
  }

  #decide(passage: Passage, frame: Buffer, text: string | null): void {
    const fate = text === null ? 'pass' : this.fate(text);
    if (fate === 'cut') this.#end(passage);
    else if (fate === 'hold') passage.held.push(frame);
    else passage.client.write(frame);
  }

  #end(passage: Passage): void {
    this.#passages.delete(passage);
    passage.client.destroy();
    passage.server.destroy();
  }
}
