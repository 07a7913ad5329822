import { startVariant, type Variant } from '../load/audience.js';
import type { Measure } from '../measure.js';
import type { Subject } from '../subjects/subject.js';
import { BASELINE, compare, DEFAULT, type Shape } from './streams.js';

const VARIANTS = [DEFAULT, BASELINE];
const SHAPES: readonly Shape[] = [
  { chats: 2000, followers: 1, perSecond: 50 },
  { chats: 4000, followers: 1, perSecond: 50 },
];
const QUICK_SHAPES: readonly Shape[] = [{ chats: 300, followers: 1, perSecond: 50 }];

/** Beyond what plain Socket.IO holds on a core: frames may grow and delays with them, nothing may get lost. */
export const overload: Measure = {
  name: 'overload',
  title: 'More chats than a core holds',
  async *run(scale) {
    const once = { ...scale, repetitions: 1 };
    for (const shape of scale.isQuick ? QUICK_SHAPES : SHAPES) {
      const subjects = new Map<Variant, Subject>();
      for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant));
      yield await compare(VARIANTS, subjects, shape, once);
      await Promise.all([...subjects.values()].map((subject) => subject.stop()));
    }
  },
};
