import { many } from '../../load/many.js';
import { Talk } from '../../load/talk.js';
import type { Scale } from '../../measure.js';
import { figure, type Table } from '../../report.js';
import { callsIn, type NodesUnderTest, type Spent } from '../../subjects/nodes.js';
import type { Subject } from '../../subjects/subject.js';
import { interleaved, middle, noiseOf } from '../../trials.js';

const CHATS = 16;
/** Who starts the turns, and where they run: nodes are counted from the first that was started. */
interface Contender {
  readonly name: string;
  readonly owner: number;
  readonly speaker: number;
}

/** @param alone a node without Redis beside the others, the last of those that were started */
export async function wholeTurns(
  nodes: NodesUnderTest,
  among: readonly Subject[],
  alone: Subject,
  scale: Scale,
): Promise<Table> {
  const all = [...among, alone];
  const last = all.length - 1;
  const ALONE: Contender = { name: 'a node of its own', owner: last, speaker: last };
  const AMONG: Contender = { name: 'a node among others', owner: 0, speaker: 0 };
  const AWAY: Contender = { name: '… asked at another node', owner: 0, speaker: 1 };
  const contenders = [ALONE, AMONG, AWAY];
  const portOf = (node: number): number => all[node]?.port ?? 0;

  const trials = await interleaved(contenders, scale, async ({ owner, speaker, name }) => {
    const prefix = `turns-${name.length}-${Math.round(performance.now())}`;
    const owners = await many(CHATS, CHATS, (i) => Talk.begin(portOf(owner), 'turnstream', `${prefix}-${i}`));
    const talks =
      owner === speaker
        ? owners
        : await many(CHATS, CHATS, (i) => Talk.begin(portOf(speaker), 'turnstream', `${prefix}-${i}`));
    for (const talk of talks) await talk.turn('whole');
    const trial = await nodes.trial(async () => {
      const end = performance.now() + scale.streamMs;
      const counts = talks.map(async (talk) => {
        let count = 0;
        for (; performance.now() < end; count++) await talk.turn('whole');
        return count;
      });
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    });
    for (const talk of talks) await talk.check();
    for (const talk of new Set([...owners, ...talks])) talk.close();
    return trial;
  });
  const per = (contender: Contender, of: (spent: Spent) => number): number =>
    middle(trials.get(contender), ({ result: { done, spent } }) => of(spent) / done);
  const node = (index: number) => (spent: Spent) => spent.nodeMicros[index] ?? Number.NaN;
  return {
    title: `A turn of a question and an answer in one piece, ${CHATS} chats at once: CPU in µs`,
    columns: ['turns of', 'owner', 'node asked', 'PostgreSQL', 'Redis', 'commands', 'bytes of WAL', 'turns/s'],
    rows: contenders.map((each) => [
      each.name,
      figure(per(each, node(each.owner))),
      each.owner === each.speaker ? '-' : figure(per(each, node(each.speaker))),
      figure(per(each, ({ postgresMicros }) => postgresMicros)),
      figure(per(each, ({ redisMicros }) => redisMicros)),
      figure(per(each, callsIn)),
      figure(per(each, ({ logBytes }) => logBytes)),
      figure(middle(trials.get(each), ({ result, ms }) => (1000 * result.done) / ms)),
    ]),
    noise: noiseOf(trials.values()),
    figures: {
      nodeMicrosPerTurnAlone: per(ALONE, node(last)),
      nodeMicrosPerTurn: per(AMONG, node(0)),
      nodeMicrosPerTurnAskedAway: per(AWAY, node(0)) + per(AWAY, node(1)),
      postgresMicrosPerTurn: per(AMONG, ({ postgresMicros }) => postgresMicros),
      postgresLogBytesPerTurn: per(AMONG, ({ logBytes }) => logBytes),
      redisMicrosPerTurn: per(AMONG, ({ redisMicros }) => redisMicros),
    },
  };
}
