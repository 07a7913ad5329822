import { createChats, Crowd, type Arrival } from '../load/crowd.js';
import type { Measure } from '../measure.js';
import { figure, times } from '../report.js';
import { Subject } from '../subjects/subject.js';

interface Contender {
  readonly name: string;
  readonly file: string;
  readonly arrival: Arrival;
  /** Whether each connection follows a chat of its own; otherwise all follow one. */
  readonly hasOwnChat: boolean;
}

const BARE: Contender = { name: 'Socket.IO, a room each', file: 'plain-socketio', arrival: 'joined', hasOwnChat: true };
const CONTENDERS: readonly Contender[] = [
  { name: 'Turnstream, connected', file: 'turnstream', arrival: 'greeted', hasOwnChat: false },
  { name: 'Turnstream, following one chat together', file: 'turnstream', arrival: 'subscribed', hasOwnChat: false },
  { name: 'Turnstream, following a chat each', file: 'turnstream', arrival: 'subscribed', hasOwnChat: true },
  BARE,
  { name: 'ws, a room each', file: 'raw-ws', arrival: 'upgraded', hasOwnChat: true },
];

/** What an idle connection keeps of the server's memory, after the garbage is gone. */
export const memory: Measure = {
  name: 'memory',
  title: 'Memory per idle connection',
  async *run({ isQuick }) {
    const size = isQuick ? 300 : 2000;
    const weights = new Map<Contender, { rss: number; heap: number }>();
    for (const contender of CONTENDERS) weights.set(contender, await weigh(contender, size));
    const bare = weights.get(BARE);
    yield {
      title: `${size.toLocaleString('en-US')} connections with a browser's headers, KB each`,
      columns: ['server', 'resident', 'JS heap', 'resident, more than Socket.IO', 'times Socket.IO'],
      rows: CONTENDERS.map((contender) => {
        const { rss = Number.NaN, heap = Number.NaN } = weights.get(contender) ?? {};
        const base = bare?.rss ?? Number.NaN;
        return [contender.name, figure(rss), figure(heap), figure(rss - base), times(rss / base)];
      }),
    };
  },
};

async function weigh(
  { name, file, arrival, hasOwnChat }: Contender,
  size: number,
): Promise<{ rss: number; heap: number }> {
  const subject = await Subject.start(name, file);
  const chatOf = (index: number): string => `idle-${hasOwnChat ? index : 0}`;
  if (arrival === 'subscribed')
    await createChats(
      subject,
      Array.from({ length: hasOwnChat ? size : 1 }, (_, i) => chatOf(i)),
    );
  const warmUp = await Crowd.arrive(subject, arrival, { size: Math.floor(size / 5), chatOf });
  await warmUp.leave();
  const before = await subject.memory();
  const crowd = await Crowd.arrive(subject, arrival, { size, chatOf });
  const after = await subject.memory();
  await crowd.leave();
  await subject.stop();
  const each = (bytes: number): number => bytes / size / 1024;
  return { rss: each(after.rss - before.rss), heap: each(after.heapUsed - before.heapUsed) };
}
