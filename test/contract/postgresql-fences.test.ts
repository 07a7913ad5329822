import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPrismaStore } from '../../server/adapters/prisma/open.js';
import type { PrismaStore } from '../../server/adapters/prisma/prisma-store.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';
import { FencedOut } from '../../server/ports/fence.js';
import { connected, postgresDatabase } from '../harness/postgres-database.js';
import { describeOnPostgres } from '../harness/services.js';
import { aBegin, aChat, aMessage, aRecord, aStep, aTurn, anEnd, anId, at } from './store/values.js';

/** A node: its connections to the database, and the fences of the chats that it believes to hold. */
class Node {
  readonly held = new Map<string, number>();
  /** What it was told to have lost: the chat, and the number under which it had it. */
  readonly lost: (readonly [chatId: string, fence: number])[] = [];
  private constructor(
    readonly nodeId: string,
    readonly store: PrismaStore,
  ) {}

  static async on(url: string): Promise<Node> {
    const held = new Map<string, number>();
    const lost: [string, number][] = [];
    const fences = {
      of: (chatId: string) => held.get(chatId) ?? null,
      lose: (chatId: string, fence: number) => lost.push([chatId, fence]),
    };
    const store = await openPrismaStore({ url, clock: systemClock, ids: systemIds, fences });
    return Object.assign(new Node(anId('node'), store), { held, lost });
  }

  async take(chatId: string): Promise<void> {
    this.held.set(chatId, await this.store.takeChat(chatId, this.nodeId, at(0)));
  }
}

let database: ReturnType<typeof postgresDatabase>;
let a: Node;
let b: Node;
/** A chat that `holder` has taken and written: a turn with an answer and a step. */
async function written(holder: Node) {
  const chat = aChat();
  const { chatId } = chat;
  await holder.take(chatId);
  const record = aRecord(aTurn(chatId));
  const { requestId } = record.turn;
  await holder.store.write([aBegin(record, { newChat: chat, messages: [aMessage(chatId, 1, { requestId })] })]);
  const message = aMessage(chatId, 2, { requestId });
  const step = aStep(record.turn, 1);
  await holder.store.write([anEnd(record, { messages: [message], steps: [step] })]);
  return { chat, chatId, record, message, step };
}

/** Every write of a chat that the store has. */
const writes = (store: PrismaStore, { chatId, record, message, step }: Awaited<ReturnType<typeof written>>) => ({
  updateChat: () => store.updateChat(chatId, { title: 'late' }, at(9)),
  saveMessages: () => store.saveMessages(chatId, [aMessage(chatId, 9)]),
  updateMessage: () => store.updateMessage(message.messageId, { props: { content: 'late' } }, at(9)),
  deleteMessages: () => store.deleteMessages(chatId, [message.messageId], at(9)),
  saveSteps: () => store.saveSteps([aStep(record.turn, 9)]),
  updateStep: () => store.updateStep(step.step.stepId, { output: 'late' }, at(9)),
  begin: () => store.write([aBegin(aRecord(aTurn(chatId)))]),
  end: () => store.write([anEnd(aRecord({ ...record.turn, attempt: 9 }, record))]),
  deleteChat: () => store.deleteChat(chatId, at(9)),
});

async function contents(store: PrismaStore, { chatId, record }: Awaited<ReturnType<typeof written>>) {
  const { requestId } = record.turn;
  return [
    await store.getChat(chatId),
    await store.getMessages(chatId, {}),
    await store.listTurns(chatId, { limit: 10 }),
    await store.getSteps(requestId),
  ];
}

describeOnPostgres('the fence on PostgreSQL', () => {
  beforeAll(async () => {
    database = postgresDatabase();
    a = await Node.on(database.url);
    b = await Node.on(database.url);
  });
  afterAll(async () => {
    await a.store.close();
    await b.store.close();
    await database.remove();
  });

  it('LIF-4: a node that another has followed changes nothing of the chat, by any write', async () => {
    const scene = await written(a);
    const before = await contents(a.store, scene);
    await b.take(scene.chatId);
    for (const [name, write] of Object.entries(writes(a.store, scene)))
      await expect(write(), name).rejects.toThrow(FencedOut);
    expect(await contents(b.store, scene)).toEqual(before);
    for (const [name, write] of Object.entries(writes(b.store, scene)))
      await expect(write(), name).resolves.not.toThrow();
  });

  it('LIF-4: what is lost is the holding under which the write began, whatever the node has taken since', async () => {
    const { chatId } = await written(a);
    const fence = a.held.get(chatId);
    await connected(database.url, async (beside) => {
      await beside.query('BEGIN');
      await beside.query('UPDATE agent_lease SET fence = fence + 1 WHERE chat_id = $1', [chatId]);
      const refused = expect(a.store.updateChat(chatId, { title: 'late' }, at(9))).rejects.toThrow(FencedOut);
      await expect.poll(async () => (await beside.query<{ waiting: number }>(WAITING)).rows[0]?.waiting).toBe(1);
      a.held.set(chatId, 99);
      await beside.query('COMMIT');
      await refused;
    });
    expect(a.lost.filter(([lost]) => lost === chatId)).toEqual([[chatId, fence]]);
  });

  it('LIF-4: a chat that a node never took is not written by it, nor made', async () => {
    const scene = await written(a);
    await expect(b.store.createChat(aChat())).rejects.toThrow(FencedOut);
    for (const [name, write] of Object.entries(writes(b.store, scene)))
      await expect(write(), name).rejects.toThrow(FencedOut);
  });

  it('LIF-4: of a batch in which one chat is lost nothing is stored, and the others go through without it', async () => {
    const [kept, lost] = [await written(a), await written(a)];
    await b.take(lost.chatId);
    const [one, two] = [aRecord(aTurn(kept.chatId)), aRecord(aTurn(lost.chatId))];
    await expect(a.store.write([aBegin(one), aBegin(two)])).rejects.toThrow(FencedOut);
    expect(await a.store.getTurn(one.turn.requestId)).toBeNull();
    await a.store.write([aBegin(one)]);
    expect(await a.store.getTurn(one.turn.requestId)).toMatchObject({ turn: one.turn });
  });

  it('LIF-4: a write under way is waited for by who takes the chat: it is in what the new holder reads', async () => {
    const scene = await written(a);
    const order: string[] = [];
    const message = aMessage(scene.chatId, 5);
    await connected(database.url, async (beside) => {
      // It holds the write of `a` up, after its fence was looked at.
      await beside.query('BEGIN');
      await beside.query('SELECT id FROM agent_chat WHERE chat_id = $1 FOR UPDATE', [scene.chatId]);
      const writing = a.store.saveMessages(scene.chatId, [message]).then(() => order.push('written'));
      const waiting = async () => (await beside.query<{ waiting: number }>(WAITING)).rows[0]?.waiting;
      await expect.poll(waiting).toBe(1);
      const taking = b.take(scene.chatId).then(() => order.push('taken'));
      await expect.poll(waiting).toBe(2);
      await beside.query('COMMIT');
      await Promise.all([writing, taking]);
    });
    expect(order).toEqual(['written', 'taken']);
    expect(await b.store.getMessage(message.messageId)).toMatchObject({ messageId: message.messageId });
  });
});

const WAITING = `SELECT count(*)::int AS waiting FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
