import { startVariant, type Variant } from '../load/audience.js';
import type { Measure } from '../measure.js';
import type { Subject } from '../subjects/subject.js';
import { BASELINE, compare, DEFAULT, type Shape } from './streams.js';

const VARIANTS: readonly Variant[] = [
  DEFAULT,
  { name: 'Turnstream, no window', kind: 'turnstream', options: { windowMs: 0 } },
  BASELINE,
  { name: 'ws, send in a loop', kind: 'ws' },
];

const SHAPES: readonly Shape[] = [
  { chats: 1000, followers: 1, perSecond: 50 },
  { chats: 500, followers: 2, perSecond: 50 },
  { chats: 300, followers: 1, perSecond: 150 },
  { chats: 50, followers: 20, perSecond: 50 },
  { chats: 1, followers: 1000, perSecond: 50 },
];
const QUICK_SHAPES: readonly Shape[] = [{ chats: 100, followers: 1, perSecond: 50 }];

export const chats: Measure = {
  name: 'chats',
  title: 'Many chats, tokens at the pace of a model',
  async *run(scale) {
    const subjects = new Map<Variant, Subject>();
    for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant));
    for (const shape of scale.isQuick ? QUICK_SHAPES : SHAPES) yield await compare(VARIANTS, subjects, shape, scale);
    await Promise.all([...subjects.values()].map((subject) => subject.stop()));
  },
};
