import type { Subject } from '../subjects/subject.js';
import { pause } from '../machine.js';
import { FrameClient } from './frame-client.js';
import { many } from './many.js';
import { SocketIoClient } from './socketio-client.js';

/** How far a connection goes before it counts as made. */
export type Arrival = 'upgraded' | 'joined' | 'greeted' | 'subscribed' | 'returned';

/** Where each chat was when its follower was cut off. */
export type Positions = ReadonlyMap<string, object>;

/** What a browser sends along, so that what a server keeps of it weighs what it usually does. */
const BROWSER = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  'Accept-Encoding: gzip, deflate, br',
  'Accept-Language: en-US,en;q=0.9',
  'Cache-Control: no-cache',
  'Pragma: no-cache',
  'Cookie: session=eyJhbGciOiJIUzI1NiJ9.eyJ1IjoxfQ.c2lnbmF0dXJl',
];

const AT_ONCE = 100;

/** Connections that come all at once and then do nothing. */
export class Crowd {
  private constructor(
    readonly took: readonly number[],
    private readonly members: readonly { close(): void }[],
  ) {}

  /** @param positions where those who return have been */
  static async arrive(
    { port }: Subject,
    arrival: Arrival,
    { size, chatOf, positions }: { size: number; chatOf: (index: number) => string; positions?: Positions },
  ): Promise<Crowd> {
    const took: number[] = [];
    const members = await many(size, AT_ONCE, async (index) => {
      const began = performance.now();
      const member = await arrive(port, arrival, chatOf(index), positions);
      took.push(performance.now() - began);
      return member;
    });
    return new Crowd(took, members);
  }

  /** Goes, and gives the server time to notice. */
  async leave(): Promise<void> {
    for (const member of this.members) member.close();
    await pause(300);
  }
}

async function arrive(
  port: number,
  arrival: Arrival,
  chat: string,
  positions: Positions | undefined,
): Promise<{ close(): void }> {
  if (arrival === 'upgraded') {
    const client = new FrameClient(port, `/?chat=${chat}`, () => undefined, BROWSER);
    await client.opened;
    return client;
  }
  const client = new SocketIoClient({ port, chat, headers: BROWSER });
  await client.joined;
  if (arrival !== 'joined') await client.greeted;
  if (arrival === 'subscribed') await client.do('chat:subscribe', { chatId: chat });
  if (arrival === 'returned') {
    const { mode } = await client.do<{ mode: string }>('chat:subscribe', {
      chatId: chat,
      position: positions?.get(chat),
    });
    if (mode !== 'replay') throw new Error(`${chat}: a ${mode} instead of a replay`);
  }
  return client;
}

/** Follows chats on one connection until it is closed, so that others can come back to them. */
export async function followChats(
  { port }: Subject,
  chats: readonly string[],
): Promise<{ readonly positions: Positions; close(): void }> {
  const client = new SocketIoClient({ port });
  await client.joined;
  const positions = new Map<string, object>();
  await many(chats.length, 64, async (i) => {
    const chatId = chats[i] ?? '';
    const { position } = await client.do<{ position: object }>('chat:subscribe', { chatId });
    positions.set(chatId, position);
  });
  return { positions, close: () => client.close() };
}

/** Makes the chats that a crowd is going to follow. */
export async function createChats({ port }: Subject, chats: readonly string[]): Promise<void> {
  const client = new SocketIoClient({ port });
  await client.joined;
  await many(chats.length, 64, (i) => client.do('chat:create', { chatId: chats[i], assistantId: 'echo' }));
  client.close();
}
