import { describe, expect, test } from 'vitest';
import { decisionsIndex } from '../../tools/decisions-index.js';
import { currentText, generatedText } from '../../tools/generated-blocks.js';
import { protocolPage } from '../../tools/protocol-tables.js';
import { readme } from '../../tools/settings-table.js';

describe('pages with parts that are made from the code', () => {
  test.each([
    ['README.md', readme],
    ['docs/protocol.md', protocolPage],
    ['docs/decisions/README.md', decisionsIndex],
  ])('%s is as `npm run docs` makes it', (_, page) => {
    expect(currentText(page), 'stale: run `npm run docs`').toBe(generatedText(page));
  });
});
