// The browser that the tests of the pages drive: Chromium of this machine. Nothing is downloaded.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Its path: TEST_BROWSER where that is set, or what stands in PATH; empty where there is none. */
export function findBrowser() {
  const { TEST_BROWSER, PATH = '' } = process.env;
  if (TEST_BROWSER !== undefined) return TEST_BROWSER;
  const inPath = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...inPath, ...APPLICATIONS].find((file) => existsSync(file)) ?? '';
}
