import { readFileSync } from 'node:fs';

/** The version of this program: of the package.json above the sources, or above `dist`. */
export const SERVER_VERSION: string = readVersion();

function readVersion(): string {
  for (const above of ['../package.json', '../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')) as { version: string };
      return version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
}
