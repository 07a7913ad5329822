import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Ack } from '../../protocol/index.js';
import type { As } from './peer.js';
import { until } from './until.js';

/** A WebSocket that speaks Engine.IO and Socket.IO letter by letter: for frames that no client library would send, and for reading as slowly as a test likes. */
export class RawSocket {
  /** Packets received, without their Engine.IO digit. */
  readonly packets: string[] = [];
  /** Bytes of all frames received. */
  bytes = 0;
  /** Close code, null while it is open. */
  closed: number | null = null;
  #nextAck = 0;

  private constructor(readonly ws: WebSocket) {
    onTestFinished(() => ws.terminate());
    ws.on('message', (data: Buffer) => {
      this.bytes += data.length;
      const text = data.toString();
      if (text === '2') ws.send('3');
      else if (text.startsWith('4')) this.packets.push(text.slice(1));
    });
    ws.on('close', (code) => (this.closed = code));
    ws.on('error', () => undefined);
  }

  /** Connects and, unless `auth` is null, joins the namespace and waits for `hello`. */
  static async open(url: string, auth: (As & { readonly namespace?: string }) | null = {}): Promise<RawSocket> {
    const ws = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
      perMessageDeflate: true,
    });
    const raw = new RawSocket(ws);
    await once(ws, 'open');
    if (!auth) return raw;
    const { namespace, ...claims } = auth;
    raw.send(`40${namespace ? `${namespace},` : ''}${JSON.stringify(claims)}`);
    await raw.packet((packet) => packet.includes('["hello"'), 'hello');
    return raw;
  }

  send(frame: string | Buffer): void {
    this.ws.send(frame);
  }

  /** Sends a command whose arguments are given as JSON text; its acknowledgement. */
  async ask(command: string, json: string): Promise<Ack<unknown>> {
    const id = this.#nextAck++;
    this.send(`42${id}[${JSON.stringify(command)},${json}]`);
    return this.answer(id);
  }

  /** The acknowledgement of a number. */
  async answer(id: number): Promise<Ack<unknown>> {
    const packet = await this.packet((text) => text.startsWith(`3${id}[`), `ack ${id}`);
    return (JSON.parse(packet.slice(`3${id}`.length)) as [Ack<unknown>])[0];
  }

  packet(wanted: (packet: string) => boolean, what: string): Promise<string> {
    return until(() => this.packets.find(wanted), what);
  }

  /** The bodies of the Socket.IO events of a name, in order. */
  bodies<T>(name: string): T[] {
    const head = `2["${name}",`;
    return this.packets
      .filter((packet) => packet.startsWith(head))
      .map((packet) => (JSON.parse(packet.slice(1)) as [string, T])[1]);
  }

  /** Stops reading: what comes piles up, first in the kernels, then at the server. */
  pause(): void {
    this.ws.pause();
  }

  resume(): void {
    this.ws.resume();
  }

  /** Resolves with the close code. */
  gone(ms = 10_000): Promise<number> {
    return until(() => this.closed, 'the end of the connection', ms);
  }
}
