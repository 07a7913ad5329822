import { openTurns } from '../../load/audience.js';
import { many } from '../../load/many.js';
import { SocketIoClient } from '../../load/socketio-client.js';
import { pause } from '../../machine.js';
import type { Scale } from '../../measure.js';
import { figure, median, type Table } from '../../report.js';
import type { NodesUnderTest, Spent } from '../../subjects/nodes.js';
import type { Subject } from '../../subjects/subject.js';

/** What followers of an owner that died are told once the next one has ended its turns: look anew (SUB-4). */
const MOVED = Buffer.from('"chat.updated"');
const PATIENCE_MS = 120_000;

interface Death {
  readonly chats: number;
  /** Milliseconds from kill -9 until a follower at another node is told to look anew, where its turn has ended: the first, the last. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Microseconds for each chat, less what is spent while nothing happens. */
  readonly micros: { readonly node: number; readonly postgres: number; readonly redis: number };
}

/** The owner of so many running turns is killed. The node that is left was started first. */
async function die(nodes: NodesUnderTest, left: Subject, chats: number): Promise<Death> {
  const owner = await nodes.node('the one that dies');
  const ids = Array.from({ length: chats }, (_, i) => `dies-${owner.port}-${i}`);
  await openTurns(owner, ids);
  await owner.call('pace', { chats: ids, perSecond: 20, ms: 1000 });
  const endedAt: number[] = [];
  const followers = await many(chats, 64, async (i) => {
    const client = new SocketIoClient({
      port: left.port,
      onEvent: (bytes, from, to) => {
        if (bytes.subarray(from, to).includes(MOVED)) endedAt.push(performance.now());
      },
    });
    await client.joined;
    await client.do('chat:subscribe', { chatId: ids[i] });
    return client;
  });
  const quiet = await nodes.trial(() => pause(2000));
  await owner.kill();
  const killedAt = performance.now();
  await nodes.without(owner);
  const busy = await nodes.trial(async () => {
    while (endedAt.length < chats) {
      if (performance.now() - killedAt > PATIENCE_MS)
        throw new Error(`only ${endedAt.length} of ${chats} were taken over`);
      await pause(2);
    }
  });
  for (const follower of followers) follower.close();
  const each = (of: (spent: Spent) => number): number =>
    (of(busy.result.spent) - (of(quiet.result.spent) * busy.ms) / quiet.ms) / chats;
  return {
    chats,
    firstMs: (endedAt[0] ?? Number.NaN) - killedAt,
    lastMs: (endedAt.at(-1) ?? Number.NaN) - killedAt,
    micros: {
      node: each(({ nodeMicros }) => nodeMicros[0] ?? Number.NaN),
      postgres: each(({ postgresMicros }) => postgresMicros),
      redis: each(({ redisMicros }) => redisMicros),
    },
  };
}

/** How long a chat has no owner, and what taking over costs those that are left. */
export async function takeover(nodes: NodesUnderTest, left: Subject, scale: Scale): Promise<Table> {
  const one: Death[] = [];
  for (let round = 0; round < scale.repetitions; round++) one.push(await die(nodes, left, 1));
  const all = await die(nodes, left, scale.isQuick ? 20 : 1000);
  const perSecond = (1000 * (all.chats - 1)) / (all.lastMs - all.firstMs);
  return {
    title:
      'kill -9 of the owner: from then until followers at another node are told to look anew, where its turns have ended',
    columns: [
      'running turns',
      'first, ms',
      'last, ms',
      'chats taken over/s',
      'CPU of a chat, µs: node',
      'PostgreSQL',
      'Redis',
    ],
    rows: [
      ['1 (median)', figure(median(one.map(({ firstMs }) => firstMs))), '-', '-', '-', '-', '-'],
      [
        ...[figure(all.chats), figure(all.firstMs), figure(all.lastMs), figure(perSecond)],
        ...[figure(all.micros.node), figure(all.micros.postgres), figure(all.micros.redis)],
      ],
    ],
    figures: {
      takeoverFirstMs: median(one.map(({ firstMs }) => firstMs)),
      takeoverChatsPerSecond: perSecond,
      nodeMicrosPerTakeover: all.micros.node,
      postgresMicrosPerTakeover: all.micros.postgres,
      redisMicrosPerTakeover: all.micros.redis,
    },
  };
}
