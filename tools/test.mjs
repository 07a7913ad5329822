// npm test: makes the clone ready, checks types, lint rules and import arrows, then runs the tests. All of it runs even
// if something fails, so that one run shows everything; the exit code is 1 if anything failed.
// Arguments go to vitest: `npm test -- --project unit`. Tests of a service or a browser that is not there are left out;
// with REQUIRE_SERVICES=1 and REQUIRE_BROWSER=1 that is a failure.
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { installFrameworks } from './frameworks.mjs';
import { prepareOrExit } from './prepare.mjs';
import { node, npm, root } from './run.mjs';
import { bringServices } from './services.mjs';

await prepareOrExit();
await installFrameworks();

const failed = [];

async function check(script) {
  const started = performance.now();
  // Kept back until its end: the checks run side by side and would mix their lines.
  const { ok, output } = await npm(['run', '--silent', script], { quiet: true });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? 'ok  ' : 'FAIL'} npm run ${script} (${seconds} s)`);
  if (ok) return;
  failed.push(script);
  console.log(output);
}

await Promise.all(['typecheck', 'lint', 'arrows'].map(check));

const missing = await bringServices();
if (process.env.REQUIRE_SERVICES === '1') failed.push(...missing.map((service) => `${service} (REQUIRE_SERVICES=1)`));

if (findBrowser() === '') {
  console.log('no Chromium found (TEST_BROWSER=<its path>): the tests of the pages are left out');
  if (process.env.REQUIRE_BROWSER === '1') failed.push('a browser (REQUIRE_BROWSER=1)');
}

// After the checks and not beside them: tests time things, and the checks keep every core busy.
const tests = await node([join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)]);
if (!tests.ok) failed.push('vitest');

if (failed.length > 0) console.log(`npm test failed: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
