import type { IdSource } from '../../../client/id-source.js';
import type { Handshake, Link, LinkListener, Transport } from '../../../client/transport.js';
import { ChatError, DEFAULT_LIMITS, type ErrorBody, type ErrorCode, type Limits } from '../../../protocol/index.js';
import { settle } from './fake-clock.js';

/** A command that the client sent, and the way to answer it. */
export interface Sent {
  readonly command: string;
  // A test reads what it knows to be there.
  readonly args: Record<string, unknown>;
  ok(data: unknown): void;
  refuse(code: ErrorCode, more?: Partial<ErrorBody>): void;
}

/** One connection, from the server's side. */
export class FakeLink implements Link {
  readonly sent: Sent[] = [];
  state: 'connecting' | 'open' | 'gone' = 'connecting';

  constructor(
    readonly handshake: Handshake,
    private readonly listener: LinkListener,
  ) {}

  send(command: string, args: unknown, acked: (ack: unknown) => void): void {
    // What is sent is what JSON makes of it.
    const copy = JSON.parse(JSON.stringify(args)) as Record<string, unknown>;
    const answer = (ack: unknown): void => {
      if (this.state === 'open') acked(JSON.parse(JSON.stringify(ack)));
    };
    this.sent.push({
      command,
      args: copy,
      ok: (data) => answer({ ok: true, data }),
      refuse: (code, more) => answer({ ok: false, error: { ...new ChatError(code).body(), ...more } }),
    });
  }

  close(): void {
    this.state = 'gone';
  }

  /** The connection stands, and the server says hello. */
  open(limits: Partial<Limits> = {}): this {
    this.opened();
    this.emit('hello', {
      protocol: 1,
      serverVersion: 'test',
      connectionId: 'c1',
      user: { userId: 'ada', teamId: null, tenantId: null, roles: ['user'] },
      limits: { ...DEFAULT_LIMITS, ...limits },
      assistants: [],
    });
    return this;
  }

  opened(): this {
    this.state = 'open';
    this.listener.opened();
    return this;
  }

  refuse(error: ChatError): void {
    this.state = 'gone';
    this.listener.refused(error);
  }

  drop(why = 'transport close'): void {
    if (this.state === 'gone') return;
    this.state = 'gone';
    this.listener.closed(why);
  }

  /** The server says something. @returns what the client acknowledged */
  emit(event: string, body: unknown): unknown[] {
    const replies: unknown[] = [];
    if (this.state === 'open') this.listener.received(event, structuredClone(body), (answer) => replies.push(answer));
    return replies;
  }

  /** Commands of this name, oldest first. */
  of(command: string): Sent[] {
    return this.sent.filter((sent) => sent.command === command);
  }

  /** The newest command of this name. */
  last(command: string): Sent {
    const sent = this.of(command).at(-1);
    if (!sent) throw new Error(`no ${command} among ${this.sent.map((each) => each.command).join(', ')}`);
    return sent;
  }
}

/** A network that a test plays. */
export class FakeTransport implements Transport {
  readonly links: FakeLink[] = [];

  open(handshake: Handshake, listener: LinkListener): Link {
    const link = new FakeLink(handshake, listener);
    this.links.push(link);
    return link;
  }

  get link(): FakeLink {
    const link = this.links.at(-1);
    if (!link) throw new Error('nothing was opened');
    return link;
  }

  /** The newest connection, once the client has got as far as opening it. */
  async next(): Promise<FakeLink> {
    await settle();
    return this.link;
  }
}

/** Ids in order, and a chance that a test sets. */
export class FakeIds implements IdSource {
  #count = 0;
  chance = 0.5;

  id(): string {
    return `00000000-0000-7000-8000-${String(++this.#count).padStart(12, '0')}`;
  }

  fraction(): number {
    return this.chance;
  }
}

/** A page that wakes when the test says so. */
export function fakeWake(): { source: (wake: () => void) => () => void; wake: () => void } {
  const wakes = new Set<() => void>();
  return {
    source: (wake) => {
      wakes.add(wake);
      return () => void wakes.delete(wake);
    },
    wake: () => {
      for (const wake of [...wakes]) wake();
    },
  };
}
