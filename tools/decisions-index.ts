// npm run docs: the index of docs/decisions, from the pages in it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { table, type GeneratedPage } from './generated-blocks.js';

const FOLDER = fileURLToPath(new URL('../docs/decisions', import.meta.url));

export const decisionsIndex: GeneratedPage = {
  path: 'docs/decisions/README.md',
  blocks: () => ({
    decisions: table(
      ['number', 'decision', 'status'],
      readdirSync(FOLDER)
        .filter((name) => /^\d{4}-.*\.md$/.test(name))
        .sort()
        .map(rowOf),
    ),
  }),
};

/** @throws {Error} a page without its title or status */
function rowOf(name: string): readonly string[] {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const [, number, title] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
  const [, status] = /^Status: (.+)$/m.exec(text) ?? [];
  if (number === undefined || title === undefined || status === undefined)
    throw new Error(`${name} has no title such as "# 0001: Title", or no "Status: accepted"`);
  return [`[${number}](${name})`, title, status];
}
