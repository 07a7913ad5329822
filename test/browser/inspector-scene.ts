import type { Locator, Page } from 'playwright-core';
import type { Person } from '../harness/person.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import type { Run } from '../harness/agent.js';
import { nextRun, openPage, STAGE, type Scene } from './scene.js';

/** The panes of the inspector. */
export const logPane = (page: Page): Locator => page.getByRole('region', { name: 'Log' });
export const viewPane = (page: Page): Locator => page.getByRole('region', { name: 'View' });
export const turnPane = (page: Page): Locator => page.getByRole('region', { name: 'Turn' });

/** The line of the log that is looked at. */
export const currentLine = (page: Page): Locator => logPane(page).getByRole('option', { selected: true });

/** The inspector on a chat, in a browser of its own that may read the clipboard. */
export const inspect = ({ server }: Scene, chatId: string) =>
  openPage(`${server.url}/inspector/${chatId}`, {
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });

/** A chat of the stage, and the run of its first turn. */
export async function chatWithRun(scene: Scene, person: Person, input = 'go'): Promise<{ chatId: string; run: Run }> {
  const chatId = await person.createChat({ assistantId: STAGE });
  const before = scene.stage.runs.length;
  await person.start(chatId, input);
  return { chatId, run: await nextRun(scene, before) };
}

/** A step of a run that begins and ends, with what it says meanwhile. */
async function step(
  run: Run,
  begun: { readonly type: string; readonly input?: unknown; readonly metadata?: Record<string, unknown> },
  during: () => Promise<unknown>,
  ended: { readonly status?: string; readonly output?: unknown; readonly error?: unknown } = {},
): Promise<string> {
  const stepId = uid('s');
  await run.push({ op: 'step.start', stepId, ...begun } as never);
  await during();
  await run.push({ op: 'step.end', stepId, status: 'completed', ...ended } as never);
  return stepId;
}

/** The frame of a call that a run has made of the stage itself. */
const childOf = ({ stage }: Scene, { requestId, stackId }: Run): Promise<Run> =>
  until(
    () => stage.runs.find((run) => run.requestId === requestId && run.assignment?.stackParentId === stackId),
    'the child frame',
  );

/** A turn with two calls below one another, one of which fails; the turn has ended. */
export async function nestedTurn(scene: Scene, person: Person): Promise<{ chatId: string; requestId: string }> {
  const { chatId, run } = await chatWithRun(scene, person, 'Plan a weekend');
  await run.push({ op: 'space.set', key: 'city', value: 'Lisbon' });
  await step(run, { type: 'llm', input: 'plan', metadata: { model: 'planner' } }, () => run.send('I will look.'), {
    output: { tools: ['flights'] },
  });
  await run.push({ op: 'space.set', key: 'travellers', value: 2 });
  const answering = run.delegate(STAGE, 'find flights');
  const child = await childOf(scene, run);
  await step(child, { type: 'tool', input: { to: 'LIS' }, metadata: { name: 'search' } }, () => child.send('TP 531'), {
    output: [{ flight: 'TP 531' }],
  });
  const checking = child.delegate(STAGE, 'check price');
  const grandchild = await childOf(scene, child);
  await step(grandchild, { type: 'tool', metadata: { name: 'price' } }, () => grandchild.send('asking'), {
    status: 'failed',
    error: { code: 'timeout', message: 'no answer' },
  });
  await grandchild.close();
  await checking;
  await child.close();
  await answering;
  await step(run, { type: 'llm', metadata: { model: 'writer' } }, () => run.send('Go to Lisbon.'));
  await run.close('completed', { usage: { outputTokens: 164 } });
  return { chatId, requestId: run.requestId };
}
