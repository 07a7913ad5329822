import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blocksIn, pageAt, ROOT } from './page-blocks.js';
import { startServer, temporaryDirectory } from './server.js';
import { Shell } from './shell.js';

const GUIDE = pageAt('docs/frameworks.md');

/** The page's programs and commands, by name: blocks that say ```` ```LANGUAGE run=NAME ````. */
export const PROGRAMS = blocksIn(GUIDE, 'run');
/** What the page says that they print: ```` ```text output=NAME ````. */
export const OUTPUTS = blocksIn(GUIDE, 'output');

/** Those that need a framework's package, which test/frameworks has. */
export const WITH_PACKAGES = ['agent-squad.mjs', 'bee.mjs'];

/** A block's text. @throws {Error} where the page has none of this name */
export function blockOf(blocks: ReadonlyMap<string, string>, name: string): string {
  const text = blocks.get(name);
  if (text === undefined) throw new Error(`docs/frameworks.md has no block ${name}`);
  return text;
}

/**
 * Runs a program of the page, against a fresh server, as it would lie beside the installed packages.
 *
 * @param packages names of packages and where they are, beside turnstream and zod
 * @returns what it printed, and its exit code
 */
export async function outputOf(name: string, packages: Readonly<Record<string, string>> = {}) {
  const { url } = await startServer();
  const directory = temporaryDirectory();
  const installed = { turnstream: ROOT, zod: join(ROOT, 'node_modules', 'zod'), ...packages };
  for (const [dependency, path] of Object.entries(installed)) {
    const link = join(directory, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(path, link, 'dir');
  }
  writeFileSync(join(directory, name), blockOf(PROGRAMS, name));
  const program = new Shell(`exec node ${name}`, { cwd: directory, env: { TURNSTREAM_URL: url } });
  const code = await program.ended();
  return { code, output: program.output };
}

/** What stands below a heading, up to the next one of its level or above. @throws {Error} where there is no such heading */
export function sectionOf(heading: string): string {
  const lines = GUIDE.split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`docs/frameworks.md has no heading ${heading}`);
  const level = heading.indexOf(' ');
  const length = lines.slice(start + 1).findIndex((line) => /^#+(?= )/.test(line) && line.indexOf(' ') <= level);
  return lines.slice(start, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** The names in the first column of the tables of a section. */
export const namesIn = (section: string): string[] =>
  [...section.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
