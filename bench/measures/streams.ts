import { Audience, type Variant } from '../load/audience.js';
import type { Scale } from '../measure.js';
import { figure, quantile, times, type Table } from '../report.js';
import type { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial, type Trial } from '../trials.js';

export const BASELINE: Variant = { name: 'Socket.IO, io.to(room).emit', kind: 'socket.io' };
export const DEFAULT: Variant = { name: 'Turnstream, default window', kind: 'turnstream' };

/** So many chats with so many followers each, and so many tokens a second in each chat. */
export interface Shape {
  readonly chats: number;
  readonly followers: number;
  readonly perSecond: number;
}

interface Heard {
  readonly deliveries: number;
  readonly perFrame: number;
  readonly p50: number;
  readonly p99: number;
}

/** Streams tokens at their due times through each server in turn; the first figure is what a token costs it. */
export async function compare(
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
    return trial(audience.subject, () => stream(audience, perSecond, 1.5 * scale.streamMs));
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
