// npm run bench [-- name …] [--quick] [--no-build]: measures the server of dist/ against bare ones and prints ratios.
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { machineLine, pinLoad } from './machine.js';
import { FULL, QUICK, type Measure } from './measure.js';
import { chats } from './measures/chats.js';
import { fanOut } from './measures/fan-out.js';
import { lateJoin } from './measures/late-join.js';
import { memory } from './measures/memory.js';
import { overload } from './measures/overload.js';
import { storm } from './measures/storm.js';
import { stores } from './measures/stores.js';
import { turns } from './measures/turns.js';
import { writes } from './measures/writes.js';
import { format } from './report.js';

const MEASURES: readonly Measure[] = [fanOut, chats, overload, writes, lateJoin, memory, turns, storm, stores];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, 'no-build': { type: 'boolean', default: false } },
});
const unknown = positionals.find((name) => !MEASURES.some((measure) => measure.name === name));
if (unknown !== undefined) {
  console.error(`bench: there is no measure ${unknown}; there are ${MEASURES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
if (!values['no-build'])
  execFileSync(process.execPath, [fileURLToPath(new URL('../tools/prepare.mjs', import.meta.url))], {
    stdio: 'inherit',
  });

pinLoad();
const began = performance.now();
console.log(`${new Date().toISOString()}, ${machineLine()}\n`);
for (const measure of MEASURES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  console.log(`## ${measure.title} (${measure.name})\n`);
  for await (const table of measure.run(values.quick ? QUICK : FULL)) console.log(`${format(table)}\n`);
}
console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`);
process.exit(0);
