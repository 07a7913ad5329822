import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The text of a page of the project. @param path from the project's root */
export const pageAt = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The named code blocks of a page, in its order: those that say ```` ```LANGUAGE mark=NAME ````, by name. */
export const blocksIn = (page: string, mark: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(new RegExp(`^\`\`\`\\w+ ${mark}=(\\S+)\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );
