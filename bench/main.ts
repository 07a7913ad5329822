// npm run bench [-- name …] [--quick] [--no-build] [--json]: measures the server of dist/ against bare ones and prints
// ratios; with --json tables go to stderr, and at the end the figures that programs go on with to stdout.
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { printCapacity } from './capacity/command.js';
import { machineLine, pinLoad } from './machine.js';
import { FULL, QUICK, type Measure } from './measure.js';
import { chats } from './measures/chats.js';
import { fanOut } from './measures/fan-out.js';
import { lateJoin } from './measures/late-join.js';
import { memory } from './measures/memory.js';
import { nodes } from './measures/nodes.js';
import { overload } from './measures/overload.js';
import { storm } from './measures/storm.js';
import { stores } from './measures/stores.js';
import { turns } from './measures/turns.js';
import { writes } from './measures/writes.js';
import { format } from './report.js';
import { printSimulation } from './simulation/command.js';
import { printReal } from './simulation/real.js';

const MEASURES: readonly Measure[] = [fanOut, chats, overload, writes, lateJoin, memory, turns, storm, stores, nodes];

/** What has arguments of its own, and is no measure. */
const CALCULATIONS: Readonly<Record<string, (args: readonly string[]) => void | Promise<void>>> = {
  capacity: printCapacity,
  simulate: printSimulation,
  real: printReal,
};
const [asked = '', ...rest] = process.argv.slice(2);
if (Object.hasOwn(CALCULATIONS, asked)) {
  try {
    await CALCULATIONS[asked]?.(rest);
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
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
const say = (line: string): void => (values.json ? console.error(line) : console.log(line));
const began = performance.now();
const figures: Record<string, number> = {};
say(`${new Date().toISOString()}, ${machineLine()}\n`);
for (const measure of MEASURES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  say(`## ${measure.title} (${measure.name})\n`);
  for await (const table of measure.run(values.quick ? QUICK : FULL)) {
    say(`${format(table)}\n`);
    Object.assign(figures, table.figures);
  }
}
say(`${((performance.now() - began) / 1000).toFixed(0)} s`);
if (values.json)
  console.log(JSON.stringify({ at: new Date().toISOString(), machine: machineLine(), figures }, null, 2));
process.exit(0);
