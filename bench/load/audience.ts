import { pause } from '../machine.js';
import { Subject } from '../subjects/subject.js';
import type { TurnstreamOptions } from '../subjects/turnstream.js';
import { FrameClient } from './frame-client.js';
import { many } from './many.js';
import { SocketIoClient } from './socketio-client.js';
import { Tally } from './tally.js';

/** A server that can be asked to publish, and how its followers come to it. */
export type Kind = 'turnstream' | 'socket.io' | 'ws';

export interface Variant {
  /** As tables call it. */
  readonly name: string;
  readonly kind: Kind;
  readonly options?: TurnstreamOptions & { readonly isReadyFrame?: boolean };
}

const FILES: Readonly<Record<Kind, string>> = { turnstream: 'turnstream', 'socket.io': 'plain-socketio', ws: 'raw-ws' };
const AT_ONCE = 64;
/** Every so many connections one is timed, so that reading the clock does not become the load. */
const TIMED_EVERY = 16;

export const startVariant = ({ name, kind, options }: Variant): Promise<Subject> =>
  Subject.start(name, FILES[kind], options);

interface Closable {
  close(): void;
}

interface Gathering {
  readonly prefix: string;
  readonly chats: number;
  readonly perChat: number;
  readonly tokens: Tally['tokens'];
  readonly ports?: readonly number[];
}

/** The followers of some chats on one server, each following one. */
export class Audience {
  private constructor(
    readonly subject: Subject,
    readonly chats: readonly string[],
    readonly tally: Tally,
    private readonly connections: readonly Closable[],
  ) {}

  get size(): number {
    return this.connections.length;
  }

  /**
   * Connects `perChat` followers to each of so many chats, in which appends can be published afterwards.
   *
   * @param ports where a chat's first follower connects, its second, and so on, where that is not the subject itself
   */
  static async gather(
    subject: Subject,
    kind: Kind,
    { prefix, chats, perChat, tokens, ports = [] }: Gathering,
  ): Promise<Audience> {
    const ids = Array.from({ length: chats }, (_, i) => `${prefix}-${i}`);
    const tally = new Tally(tokens);
    if (kind === 'turnstream') await openTurns(subject, ids);
    const connections = await many(chats * perChat, AT_ONCE, (index) =>
      follow(
        ports[Math.floor(index / chats)] ?? subject.port,
        kind,
        ids[index % chats] ?? '',
        tally.ear({ isTimed: tokens === 'times' && index % TIMED_EVERY === 0 }),
      ),
    );
    return new Audience(subject, ids, tally, connections);
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }
}

/** A turn of the assistant that appends what the bench says, in each chat. */
export async function openTurns(subject: Subject, chats: readonly string[]): Promise<void> {
  const starter = new SocketIoClient({ port: subject.port });
  await starter.joined;
  await many(chats.length, AT_ONCE, (index) =>
    starter.do('turn:start', { chatId: chats[index], assistantId: 'pen', input: 'go', createChat: true }),
  );
  while ((await subject.call<number>('writing', { chats })) < chats.length) await pause(5);
  starter.close();
}

async function follow(port: number, kind: Kind, chat: string, onEvent: ReturnType<Tally['ear']>): Promise<Closable> {
  if (kind === 'ws') {
    const client = new FrameClient(port, `/?chat=${chat}`, onEvent);
    await client.opened;
    return client;
  }
  const client = new SocketIoClient({ port, chat, onEvent });
  await client.joined;
  if (kind === 'turnstream') await client.do('chat:subscribe', { chatId: chat });
  return client;
}
