import { Audience } from '../../load/audience.js';
import { pause } from '../../machine.js';
import type { Scale } from '../../measure.js';
import { figure, type Table } from '../../report.js';
import { flushesIn, type NodesUnderTest, type Spent } from '../../subjects/nodes.js';
import type { Subject } from '../../subjects/subject.js';

/** Further apart than any window: each token is a flush of its own. */
const PER_SECOND = 20;
/** Commands in the order in which they are sent: record, other nodes, inbox. */
const COMMANDS = ['xadd', 'persist', 'pexpire', 'xtrim', 'xread'];

/**
 * What Redis is asked for one flush. What arrived in one read was sent without waiting in between: a record is one, whatever it
 * holds, and so are each other node's entry and its reader's next question.
 */
export async function roundTrips(
  nodes: NodesUnderTest,
  [owner, ...others]: readonly Subject[],
  scale: Scale,
): Promise<Table> {
  if (!owner) throw new Error('there is no node');
  const ms = 4 * scale.streamMs;
  const rows: string[][] = [];
  const micros: { readonly owner: number; readonly second: number }[] = [];
  for (let count = 0; count <= others.length; count++) {
    const ports = others.slice(0, count).map(({ port }) => port);
    const gathering = { prefix: `trips-${count}`, chats: 1, perChat: count, tokens: 'times', ports } as const;
    const audience = await Audience.gather(owner, 'turnstream', gathering);
    const idle = await nodes.trial(() => pause(ms));
    const busy = await nodes.trial(async () => {
      const pace = { chats: audience.chats, perSecond: PER_SECOND, ms };
      const { appends } = await owner.call<{ appends: number }>('pace', pace);
      await audience.tally.expect(appends * count, 'round trips');
    });
    audience.close();
    const flushes = flushesIn(busy.result.spent);
    const per = (of: (spent: Spent) => number): number => (of(busy.result.spent) - of(idle.result.spent)) / flushes;
    const node = (index: number): number => per(({ nodeMicros }) => nodeMicros[index] ?? Number.NaN);
    micros.push({ owner: node(0), second: node(1) });
    rows.push([
      `${count}`,
      ...COMMANDS.map((name) => figure(per(({ redisCalls }) => redisCalls.get(name) ?? 0))),
      figure(per(({ redisReads }) => redisReads)),
      ...[per(({ redisMicros }) => redisMicros), node(0), node(1)].map(figure),
    ]);
  }
  const [without, withOne] = micros;
  return {
    title: `One chat, a flush every ${1000 / PER_SECOND} ms, less what idle nodes do: for each flush commands and reads of Redis, CPU in µs`,
    columns: ['other nodes', ...COMMANDS.map((name) => name.toUpperCase()), 'reads', 'Redis', 'owner', 'second'],
    rows,
    figures: {
      nodeMicrosPerEntrySent: (withOne?.owner ?? Number.NaN) - (without?.owner ?? Number.NaN),
      nodeMicrosPerEntryRead: (withOne?.second ?? Number.NaN) - (without?.second ?? Number.NaN),
    },
  };
}
