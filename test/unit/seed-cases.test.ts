import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DECISION = 'decisions/0050-seed-test-list.md';
const ALL = Array.from({ length: 81 }, (_, index) => index + 1);

interface Row {
  readonly number: number;
  readonly titles: readonly string[];
  readonly isDecided: boolean;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const rows = read('docs/seed-cases.md')
  .split('\n')
  .flatMap((line): Row[] => {
    const [, number, shownBy] = /^\| (\d+) \| [^|]+ \| (.+) \|$/.exec(line) ?? [];
    if (number === undefined || shownBy === undefined) return [];
    return [
      {
        number: Number(number),
        titles: [...shownBy.matchAll(/`([^`]+)`/g)].map(([, title]) => title as string),
        isDecided: shownBy.includes(`](${DECISION})`),
      },
    ];
  });

test('docs/seed-cases.md has one row for each of the 81 numbers, and each says what shows it', () => {
  expect(rows.map(({ number }) => number)).toEqual(ALL);
  const empty = rows.filter(({ titles, isDecided }) => titles.length === 0 && !isDecided);
  expect(empty).toEqual([]);
});

test('every title that docs/seed-cases.md names is that of a test', () => {
  const sources = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => read(join('test', path)));
  const isThere = (title: string): boolean =>
    ["'", '"', '`'].some((quote) => sources.some((source) => source.includes(`(${quote}${title}${quote}, `))) ||
    // Where the title did not fit on the line of its call.
    sources.some((source) => source.split('\n').some((line) => /^\s+(['"`])(.*)\1,$/.exec(line)?.[2] === title));
  const gone = [...new Set(rows.flatMap(({ titles }) => titles))].filter((title) => !isThere(title));
  expect(gone).toEqual([]);
});

test('docs/seed-cases.md and the decision name the same numbers', () => {
  const explained = read(join('docs', DECISION))
    .split('\n')
    .flatMap((line) => /^\| ([\d, ]+) \|/.exec(line)?.[1]?.split(', ').map(Number) ?? []);
  const decided = rows.filter(({ isDecided }) => isDecided).map(({ number }) => number);
  expect(explained.sort((a, b) => a - b)).toEqual(decided);
});
