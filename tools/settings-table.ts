// npm run docs: the README's table of settings, from server/config.ts.
import { settingsTable } from '../server/config.js';
import { code, table, type GeneratedPage } from './generated-blocks.js';

export const readme: GeneratedPage = {
  path: 'README.md',
  blocks: () => ({
    settings: table(
      ['setting', 'default', 'meaning'],
      settingsTable().map((row) => [code(row.name), shown(row.default), row.meaning]),
    ),
  }),
};

/** Values in code, words as they are. */
const shown = (text: string): string => (text === '' || text.includes(' ') ? text : code(text));
