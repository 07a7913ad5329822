import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { Agent, type Run } from '../harness/agent.js';
import { openTab, profile, type Tab } from '../harness/browser.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

/** An assistant whose every word a test says: what the page asks of it comes here. */
export const STAGE = 'stage';

/** Whom the page takes its reader for, where nobody says otherwise. */
const READER = { userId: 'local', teamId: 'local' } as const;

export interface Scene {
  readonly server: ServerProcess;
  readonly stage: Agent;
}

/** A built server as a process of its own, with an agent that serves {@link STAGE}. */
export async function startScene(env: Record<string, string> = {}): Promise<Scene> {
  const server = await new ServerProcess({ COALESCE_MS: '0', ...env }).start();
  const stage = await new Agent(server.url, [STAGE]).join();
  return { server, stage };
}

/** Somebody who speaks the protocol by hand; by default the reader of the page. */
export const personAt = (url: string, as: As = READER): Promise<Person> => new Person(url, as).open();

/** A tab of a browser of its own. */
export async function openPage(address: string, options: BrowserContextOptions = {}): Promise<Tab> {
  return openTab(await profile(options), address);
}

/** A tab of a browser of its own whose reader goes by another name. */
export async function openPageAs(name: string, address: string): Promise<Tab> {
  const context = await profile();
  await context.addInitScript((kept) => localStorage.setItem('turnstream.name', kept), name);
  return openTab(context, address);
}

export const field = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });
export const log = (page: Page): Locator => page.getByRole('log', { name: 'Messages' });

/** Writes a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** The run that the stage was given last, once it is another one than those before. */
export async function nextRun({ stage }: Scene, before = 0): Promise<Run> {
  return until(() => stage.runs[before], 'a turn for the stage');
}

/** Waits until what is shown of a chat has these words. */
export const shows = (page: Page, text: string): Promise<void> => log(page).getByText(text).first().waitFor();

/** Waits until a function of the page is truthy. */
export async function untilPage<T>(page: Page, probe: (argument: T) => unknown, argument: T): Promise<void> {
  await page.waitForFunction(probe as (argument: unknown) => unknown, argument);
}

/** Nothing went wrong in a tab, but for what a test names. */
export function expectNoFaults({ faults }: Tab, except?: RegExp): void {
  expect(faults.filter((fault) => !except?.test(fault))).toEqual([]);
}
