import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A page of the repository with parts that are made from the code. */
export interface GeneratedPage {
  /** From the root of the repository. */
  readonly path: string;
  /** Markdown by the name of the block. */
  readonly blocks: () => Readonly<Record<string, string>>;
}

const fileOf = ({ path }: GeneratedPage): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const begin = (name: string): string => `<!-- generated: ${name} -->`;
const END = '<!-- end -->';

/** The page as it is in the repository. */
export const currentText = (page: GeneratedPage): string => readFileSync(fileOf(page), 'utf8');

/**
 * The page with every block made anew: what stands between `<!-- generated: NAME -->` and `<!-- end -->`.
 *
 * @throws {Error} a block without its place in the page, or a place without a block
 */
export function generatedText(page: GeneratedPage): string {
  const blocks = page.blocks();
  let text = currentText(page);
  for (const [name, block] of Object.entries(blocks)) {
    const from = text.indexOf(begin(name));
    const to = text.indexOf(END, from);
    if (from < 0 || to < 0) throw new Error(`${page.path} has no place for ${name}`);
    text = `${text.slice(0, from)}${begin(name)}\n\n${block.trim()}\n\n${text.slice(to)}`;
  }
  const places = [...text.matchAll(/<!-- generated: (\S+) -->/g)].map((match) => match[1] ?? '');
  const unknown = places.find((name) => !Object.hasOwn(blocks, name));
  if (unknown !== undefined) throw new Error(`${page.path} has a place for ${unknown}, which nobody makes`);
  return text;
}

/** Writes the page where it is stale. */
export function writePage(page: GeneratedPage): void {
  const text = generatedText(page);
  const isStale = text !== currentText(page);
  if (isStale) writeFileSync(fileOf(page), text);
  console.log(`${page.path} ${isStale ? 'was written anew' : 'is up to date'}`);
}

/** A Markdown table. Bars inside cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;
