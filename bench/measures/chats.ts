import { Audience, startVariant, type Variant } from '../load/audience.js';
import type { Measure, Scale } from '../measure.js';
import { figure, quantile, times, type Table } from '../report.js';
import type { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial, type Trial } from '../trials.js';

const BASELINE: Variant = { name: 'Socket.IO, io.to(room).emit', kind: 'socket.io' };
const DEFAULT: Variant = { name: 'Turnstream, default window', kind: 'turnstream' };
const VARIANTS: readonly Variant[] = [
  DEFAULT,
  { name: 'Turnstream, no window', kind: 'turnstream', options: { windowMs: 0 } },
  BASELINE,
  { name: 'ws, send in a loop', kind: 'ws' },
];

/** So many chats with so many followers each, and so many tokens a second in each chat. */
interface Shape {
  readonly chats: number;
  readonly followers: number;
  readonly perSecond: number;
}

const SHAPES: readonly Shape[] = [
  { chats: 1000, followers: 1, perSecond: 50 },
  { chats: 500, followers: 2, perSecond: 50 },
  { chats: 300, followers: 1, perSecond: 150 },
  { chats: 50, followers: 20, perSecond: 50 },
  { chats: 1, followers: 1000, perSecond: 50 },
];
const QUICK_SHAPES: readonly Shape[] = [{ chats: 100, followers: 1, perSecond: 50 }];
/** Beyond what plain Socket.IO holds: delays may grow, nothing may get lost. */
const OVERLOADS: readonly Shape[] = [
  { chats: 2000, followers: 1, perSecond: 50 },
  { chats: 4000, followers: 1, perSecond: 50 },
];

interface Heard {
  readonly deliveries: number;
  readonly perFrame: number;
  readonly p50: number;
  readonly p99: number;
}

export const chats: Measure = {
  name: 'chats',
  title: 'Many chats, tokens at the pace of a model',
  async *run(scale) {
    const subjects = new Map<Variant, Subject>();
    for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant));
    for (const shape of scale.isQuick ? QUICK_SHAPES : SHAPES) yield await compare(VARIANTS, subjects, shape, scale);
    if (!scale.isQuick) {
      const once = { ...scale, repetitions: 1 };
      for (const shape of OVERLOADS) yield await compare([DEFAULT, BASELINE], subjects, shape, once);
    }
    await Promise.all([...subjects.values()].map((subject) => subject.stop()));
  },
};

async function compare(
  variants: readonly Variant[],
  subjects: ReadonlyMap<Variant, Subject>,
  shape: Shape,
  scale: Scale,
): Promise<Table> {
  const { chats: count, followers, perSecond } = shape;
  const audiences = new Map<Variant, Audience>();
  for (const variant of variants) {
    const gathering = {
      prefix: `chats-${count}-${perSecond}`,
      chats: count,
      perChat: followers,
      tokens: 'times',
    } as const;
    const audience = await Audience.gather(subjects.get(variant) as Subject, variant.kind, gathering);
    audiences.set(variant, audience);
    await stream(audience, perSecond, scale.streamMs / 2);
  }
  const trials = await interleaved(variants, scale, (variant) => {
    const audience = audiences.get(variant) as Audience;
    return trial(audience.subject, () => stream(audience, perSecond, 2 * scale.streamMs));
  });
  for (const audience of audiences.values()) audience.close();
  const title = `${count.toLocaleString('en-US')} ${count === 1 ? 'chat' : 'chats'} x ${perSecond} tokens/s, followers each: ${followers.toLocaleString('en-US')}`;
  return { title, ...table(variants, trials), noise: noiseOf(trials.values()) };
}

async function stream({ subject, chats: ids, tally, size }: Audience, perSecond: number, ms: number): Promise<Heard> {
  tally.clear();
  const { appends } = await subject.call<{ appends: number }>('pace', { chats: ids, perSecond, ms });
  await tally.expect((appends * size) / ids.length, subject.name, 60_000);
  const { heard, frames, delays } = tally;
  return { deliveries: heard, perFrame: heard / frames, p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) };
}

function table(
  variants: readonly Variant[],
  trials: ReadonlyMap<Variant, readonly Trial<Heard>[]>,
): Pick<Table, 'columns' | 'rows'> {
  const cost = (variant: Variant): number =>
    middle(trials.get(variant), ({ cpuMicros, result }) => cpuMicros / result.deliveries);
  return {
    columns: [
      'server',
      'CPU per delivery, µs',
      'cheaper than Socket.IO',
      'share of a core',
      'tokens a frame',
      'delay p50, ms',
      'delay p99, ms',
    ],
    rows: variants.map((variant) => {
      const own = trials.get(variant);
      return [
        variant.name,
        figure(cost(variant)),
        times(cost(BASELINE) / cost(variant)),
        figure(middle(own, ({ cpuMicros, ms }) => cpuMicros / 1000 / ms)),
        figure(middle(own, ({ result }) => result.perFrame)),
        figure(middle(own, ({ result }) => result.p50)),
        figure(middle(own, ({ result }) => result.p99)),
      ];
    }),
  };
}
