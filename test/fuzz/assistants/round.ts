import { until } from '../../harness/until.js';
import type { Throws } from './effects.js';
import { differences, outcomeOf, type Outcome } from './outcome.js';
import { pathOfStep } from './perform.js';
import { throwsOf, type Disturbance, type Plan } from './plan.js';
import { Stage } from './stage.js';

/** Attempts that come by nobody's plan: a call that finds no agent while one takes over from the other. */
const SPARE_ATTEMPTS = 6;
/** How long a disturbance waits for events that may not come. */
const WAIT_MS = 500;

/** @returns what did not fit, with how it came to it */
export async function playTree(plan: Plan): Promise<{ faults: string[]; trace: string[] }> {
  const plain = await perform(plan, { throws: {}, disturbances: [], events: 0, isPlain: true });
  if (!plain.outcome || plain.stage.faults.length > 0) return report(plain.stage, 'undisturbed: ');
  const throws = throwsOf(plan.seed, plain.outcome.paths);
  const { events } = plain.outcome;
  const { disturbances } = plan;
  const resumed = await perform(plan, { throws, disturbances, events, isPlain: false });
  if (resumed.outcome && resumed.stage.faults.length === 0)
    differences(plain.outcome, resumed.outcome).forEach(resumed.stage.fault);
  return report(resumed.stage, '');
}

const report = ({ faults, trace }: Stage, prefix: string) => ({ faults: faults.map((fault) => prefix + fault), trace });

interface Course {
  readonly throws: Throws;
  readonly disturbances: readonly Disturbance[];
  /** How many events an undisturbed run has. */
  readonly events: number;
  readonly isPlain: boolean;
}

async function perform(plan: Plan, course: Course): Promise<{ stage: Stage; outcome: Outcome | null }> {
  const stage = new Stage(plan, course.throws, course.isPlain);
  stage.note(JSON.stringify(course.throws));
  await stage.begin();
  try {
    await toCompletion(stage, course);
    await stage.compareView();
    const [history, steps] = [await stage.history(), await stage.steps()];
    return { stage, outcome: outcomeOf(history, steps, { effects: stage.effects.read(), events: stage.events }) };
  } catch (error) {
    stage.fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { stage, outcome: null };
  } finally {
    await stage.finish();
  }
}

async function toCompletion(stage: Stage, { throws, disturbances, events }: Course): Promise<void> {
  const left = [...disturbances];
  const planned = Object.values(throws).reduce((sum, { times }) => sum + times, 0);
  const most = 1 + left.length + planned + SPARE_ATTEMPTS;
  /** The attempt in which a step was completed, by its path. */
  const completed = new Map<string, number>();
  await stage.start();
  for (let attempt = 1; ; attempt++) {
    await disturb(stage, left, { attempt, events });
    await stage.ended(attempt);
    if (stage.faults.length > 0) return;
    const { status, stopReason, error } = stage.turn ?? {};
    stage.note(`attempt ${attempt}: ${status} ${stopReason ?? ''} ${error ? JSON.stringify(error) : ''}`);
    checkEffects(stage, completed);
    for (const step of await stage.steps()) {
      const path = pathOfStep(step.type, step.input);
      if (step.status === 'completed' && !completed.has(path)) completed.set(path, attempt);
    }
    if (status === 'completed' || stage.faults.length > 0) return;
    if (error?.code === 'resume_mismatch') return stage.fault(`a deterministic program: ${error.message}`);
    if (attempt >= most) return stage.fault(`no end after ${attempt} attempts: ${JSON.stringify(error)}`);
    await stage.compareView();
    await stage.resume(attempt + 1);
  }
}

/** Does what comes next of the plan, while the attempt runs. */
async function disturb(
  stage: Stage,
  left: Disturbance[],
  { attempt, events }: { readonly attempt: number; readonly events: number },
): Promise<void> {
  const began = stage.events;
  while (left.length > 0 && !stage.isOver(attempt)) {
    const [next] = left as [Disturbance];
    const at = began + Math.ceil((0.7 * next.after * events) / attempt);
    const isTime = (): boolean => stage.events >= at || stage.isOver(attempt);
    await until(isTime, 'the time of a disturbance', WAIT_MS).catch(() => undefined);
    if (stage.isOver(attempt)) return;
    left.shift();
    await stage.perform(next.do);
  }
}

function checkEffects(stage: Stage, completed: ReadonlyMap<string, number>): void {
  const runs = new Map<string, number>();
  const done = new Map(completed);
  for (const { path, attempt, done: isDone } of stage.effects.read()) {
    if (isDone) {
      done.set(path, Math.min(attempt, done.get(path) ?? attempt));
      continue;
    }
    const key = `${attempt} ${path}`;
    runs.set(key, (runs.get(key) ?? 0) + 1);
  }
  for (const [key, count] of runs) {
    const [attempt, path] = key.split(' ') as [string, string];
    if (count > 1) stage.fault(`${path} ran ${count} times in attempt ${attempt}`);
    const before = done.get(path);
    if (before !== undefined && Number(attempt) > before)
      stage.fault(`${path} ran again in attempt ${attempt}; it had completed in attempt ${before}`);
  }
}
