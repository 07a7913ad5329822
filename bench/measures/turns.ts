import { many } from '../load/many.js';
import { Talk } from '../load/talk.js';
import { LOAD_CORE } from '../machine.js';
import type { Measure, Scale } from '../measure.js';
import { figure, quantile, times, type Table } from '../report.js';
import { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial } from '../trials.js';

interface Contender {
  readonly name: string;
  readonly kind: 'turnstream' | 'socket.io';
  readonly assistantId: string;
}

const BARE: Contender = { name: 'Socket.IO that stores nothing', kind: 'socket.io', assistantId: 'echo' };
const CONTENDERS: readonly Contender[] = [
  { name: 'Turnstream, in-process assistant', kind: 'turnstream', assistantId: 'echo' },
  { name: 'Turnstream, in-process, in ten steps', kind: 'turnstream', assistantId: 'steps' },
  { name: 'Turnstream, remote agent', kind: 'turnstream', assistantId: 'remote-echo' },
  { name: 'Turnstream, remote agent, in ten steps', kind: 'turnstream', assistantId: 'remote-steps' },
  BARE,
];

/** From `turn:start` to `turn.ended`: a question of 21 words, said again word by word without a pause, stored. */
export const turns: Measure = {
  name: 'turns',
  title: 'Whole turns',
  async *run(scale) {
    const turnstream = await Subject.start('Turnstream', 'turnstream');
    const bare = await Subject.start('Socket.IO', 'plain-socketio');
    const url = `http://127.0.0.1:${turnstream.port}`;
    const agent = await Subject.start('agent', '../load/agent', { url }, { core: LOAD_CORE });
    const subjectOf = ({ kind }: Contender): Subject => (kind === 'turnstream' ? turnstream : bare);
    for (const atOnce of [1, 16]) yield await compare(subjectOf, atOnce, scale);
    await agent.stop();
    await Promise.all([turnstream.stop(), bare.stop()]);
  },
};

async function compare(subjectOf: (contender: Contender) => Subject, atOnce: number, scale: Scale): Promise<Table> {
  const trials = await interleaved(CONTENDERS, scale, async (contender) => {
    const { kind, assistantId } = contender;
    const { port } = subjectOf(contender);
    const name = `${assistantId}-${atOnce}-${Math.round(performance.now())}`;
    const talks = await many(atOnce, atOnce, (i) => Talk.begin(port, kind, `${name}-${i}`));
    for (const talk of talks) for (let i = 0; i < 3; i++) await talk.turn(assistantId);
    const done = await trial(subjectOf(contender), () => talkFor(talks, assistantId, scale.streamMs));
    for (const talk of talks) {
      await talk.check();
      talk.close();
    }
    return done;
  });
  const rate = (contender: Contender): number =>
    middle(trials.get(contender), ({ result, ms }) => (1000 * result.length) / ms);
  return {
    title: `Turns from start to end, ${atOnce === 1 ? 'one after another' : `${atOnce} chats at once`}`,
    columns: ['server', 'turns/s', 'of bare Socket.IO', 'p50, ms', 'p99, ms', 'server CPU per turn, ms'],
    rows: CONTENDERS.map((contender) => {
      const own = trials.get(contender);
      return [
        contender.name,
        figure(rate(contender)),
        times(rate(contender) / rate(BARE)),
        figure(middle(own, ({ result }) => quantile(result, 0.5))),
        figure(middle(own, ({ result }) => quantile(result, 0.99))),
        figure(middle(own, ({ cpuMicros, result }) => cpuMicros / 1000 / result.length)),
      ];
    }),
    noise: noiseOf(trials.values()),
  };
}

/** @returns the milliseconds of every turn */
async function talkFor(talks: readonly Talk[], assistantId: string, ms: number): Promise<number[]> {
  const end = performance.now() + ms;
  const took = await Promise.all(
    talks.map(async (talk) => {
      const own: number[] = [];
      while (performance.now() < end) own.push(await talk.turn(assistantId));
      return own;
    }),
  );
  return took.flat();
}
