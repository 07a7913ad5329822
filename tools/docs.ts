// npm run docs: writes what is made from the code into the pages that hold it.
import { decisionsIndex } from './decisions-index.js';
import { writePage } from './generated-blocks.js';
import { protocolPage } from './protocol-tables.js';
import { readme } from './settings-table.js';

for (const page of [readme, protocolPage, decisionsIndex]) writePage(page);
