import { Audience, startVariant, type Variant } from '../load/audience.js';
import type { Measure, Scale } from '../measure.js';
import { figure, times, type Table } from '../report.js';
import type { Subject } from '../subjects/subject.js';
import { interleaved, middle, noiseOf, trial, type Trial } from '../trials.js';

const BASELINE: Variant = { name: 'Socket.IO, io.to(room).emit', kind: 'socket.io' };
const VARIANTS: readonly Variant[] = [
  { name: 'Turnstream, direct', kind: 'turnstream', options: { windowMs: 0 } },
  { name: 'Turnstream, through the engine', kind: 'turnstream', options: { windowMs: 0, isDirect: false } },
  BASELINE,
  { name: 'ws, send in a loop', kind: 'ws' },
  { name: 'ws, ready frame to TCP', kind: 'ws', options: { isReadyFrame: true } },
];

/** A saturated publisher, one chat, one append per turn of the event loop, no window: what one frame costs per follower. */
export const fanOut: Measure = {
  name: 'fan-out',
  title: 'Fan-out of one chat',
  async *run(scale) {
    const sizes = scale.isQuick ? [1, 100] : [1, 10, 100, 1000];
    const subjects = await Promise.all(VARIANTS.map(startVariant));
    const costs = new Map<Variant, number[]>(VARIANTS.map((variant) => [variant, []]));
    const noise: Trial<number>[][] = [];
    for (const size of sizes) {
      const trials = await withFollowers(subjects, size, scale);
      for (const variant of VARIANTS)
        costs.get(variant)?.push(middle(trials.get(variant), (each) => each.cpuMicros / each.result));
      noise.push(...trials.values());
    }
    await Promise.all(subjects.map((subject) => subject.stop()));
    yield table(sizes, costs, noiseOf(noise));
  },
};

async function withFollowers(
  subjects: readonly Subject[],
  size: number,
  scale: Scale,
): Promise<Map<Variant, Trial<number>[]>> {
  const audiences = new Map<Variant, Audience>();
  for (const [i, variant] of VARIANTS.entries()) {
    const gathering = { prefix: `fan-${size}`, chats: 1, perChat: size, tokens: 'numbers' } as const;
    const audience = await Audience.gather(subjects[i] as Subject, variant.kind, gathering);
    audiences.set(variant, audience);
    await publish(audience, scale.streamMs / 2);
  }
  const trials = await interleaved(VARIANTS, scale, (variant) => {
    const audience = audiences.get(variant) as Audience;
    return trial(audience.subject, () => publish(audience, scale.streamMs));
  });
  for (const audience of audiences.values()) audience.close();
  return trials;
}

/** @returns deliveries, every one of them seen */
async function publish(audience: Audience, ms: number): Promise<number> {
  audience.tally.clear();
  const { appends } = await audience.subject.call<{ appends: number }>('saturate', { chatId: audience.chats[0], ms });
  await audience.tally.expect(appends * audience.size, audience.subject.name);
  return audience.tally.heard;
}

function table(sizes: readonly number[], costs: ReadonlyMap<Variant, number[]>, noise: string): Table {
  const baseline = costs.get(BASELINE) ?? [];
  return {
    title:
      'Server CPU per delivery, µs (in brackets: how many times cheaper than plain Socket.IO), and deliveries per core-second with most followers',
    columns: ['server', ...sizes.map((size) => `to ${size.toLocaleString('en-US')}`), 'per core-second'],
    rows: VARIANTS.map((variant) => {
      const own = costs.get(variant) ?? [];
      const cells = own.map((cost, i) => `${figure(cost)} (${times((baseline[i] ?? Number.NaN) / cost)})`);
      return [variant.name, ...cells, figure(1e6 / (own.at(-1) ?? Number.NaN))];
    }),
    noise,
  };
}
