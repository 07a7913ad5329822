import { createChats, Crowd, followChats, type Arrival } from '../load/crowd.js';
import type { Measure } from '../measure.js';
import { figure, quantile, times } from '../report.js';
import { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial } from '../trials.js';

interface Contender {
  readonly name: string;
  readonly server: 'turnstream' | 'plain-socketio' | 'raw-ws';
  readonly arrival: Arrival;
}

const BARE: Contender = { name: 'Socket.IO: connect', server: 'plain-socketio', arrival: 'joined' };
const CONTENDERS: readonly Contender[] = [
  { name: 'Turnstream: connect, hello', server: 'turnstream', arrival: 'greeted' },
  { name: 'Turnstream: connect, hello, come back by position', server: 'turnstream', arrival: 'returned' },
  { name: 'Turnstream: connect, hello, subscribe anew', server: 'turnstream', arrival: 'subscribed' },
  BARE,
  { name: 'ws: upgrade', server: 'raw-ws', arrival: 'upgraded' },
];

const CHATS = 20;
const chatOf = (index: number): string => `storm-${index % CHATS}`;

/** A thousand connections at once, as after a network's hiccup. */
export const storm: Measure = {
  name: 'storm',
  title: 'Connect storm',
  async *run(scale) {
    const size = scale.isQuick ? 200 : 1000;
    const subjects = new Map<Contender['server'], Subject>();
    for (const server of ['turnstream', 'plain-socketio', 'raw-ws'] as const)
      subjects.set(server, await Subject.start(server, server));
    const turnstream = subjects.get('turnstream') as Subject;
    const chats = Array.from({ length: CHATS }, (_, i) => chatOf(i));
    await createChats(turnstream, chats);
    const { positions } = await followChats(turnstream, chats);
    const subjectOf = ({ server }: Contender): Subject => subjects.get(server) as Subject;
    for (const contender of CONTENDERS) {
      const some = { size: size / 2, chatOf, positions };
      await (await Crowd.arrive(subjectOf(contender), contender.arrival, some)).leave();
    }

    const trials = await interleaved(CONTENDERS, scale, async (contender) => {
      const subject = subjectOf(contender);
      const done = await trial(subject, () => Crowd.arrive(subject, contender.arrival, { size, chatOf, positions }));
      await done.result.leave();
      return done;
    });
    await Promise.all([...subjects.values()].map((subject) => subject.stop()));
    const cost = (contender: Contender): number => middle(trials.get(contender), ({ cpuMicros }) => cpuMicros / size);
    yield {
      title: `${size.toLocaleString('en-US')} connections, 100 at a time`,
      columns: ['server', 'CPU per connection, µs', 'times Socket.IO', 'connections/s', 'p50, ms', 'p99, ms'],
      rows: CONTENDERS.map((contender) => {
        const own = trials.get(contender);
        return [
          contender.name,
          figure(cost(contender)),
          times(cost(contender) / cost(BARE)),
          figure(middle(own, ({ ms }) => (1000 * size) / ms)),
          figure(middle(own, ({ result }) => quantile(result.took, 0.5))),
          figure(middle(own, ({ result }) => quantile(result.took, 0.99))),
        ];
      }),
      noise: noiseOf(trials.values()),
    };
  },
};
