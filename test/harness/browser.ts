import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, describe, onTestFinished } from 'vitest';
// Plain JavaScript, since it runs before anything is built.
import { findBrowser } from '../../tools/browser.mjs';

/** Chromium of this machine (`TEST_BROWSER` names another); empty: there is none. */
const BROWSER = findBrowser();

/** A `describe` whose tests are skipped where there is no browser. */
export const describeInBrowser = describe.skipIf(BROWSER === '');

/** As a test needs it: without its own traffic, which a closed network would refuse again and again. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let running: Promise<Browser> | undefined;
afterAll(async () => {
  const browser = await running;
  running = undefined;
  await browser?.close();
});

/** A browser profile of its own, as another person or another device has it; it is closed when the test is finished. */
export async function profile(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await (running ??= chromium.launch({ executablePath: BROWSER, args: ARGUMENTS }));
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  context.setDefaultTimeout(15_000);
  onTestFinished(() => context.close());
  return context;
}

/** A page, and what went wrong in it: uncaught errors, and what its console calls an error. */
export interface Tab {
  readonly page: Page;
  readonly faults: string[];
}

/** Opens an address in a tab. */
export async function openTab(context: BrowserContext, address: string): Promise<Tab> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.stack ?? error.message));
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
  await page.goto(address);
  return { page, faults };
}
