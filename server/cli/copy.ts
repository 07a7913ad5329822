import { copyDatabase } from '../app.js';
import { readConfig } from '../config.js';
import type { Call } from './command.js';
import { note, print } from './terminal.js';
import { endWhenTold } from './told.js';
import { UsageError } from './usage-error.js';

const ADDRESS = /^(file:.+|postgres(ql)?:\/\/.+)$/;

/**
 * Moves what a server has stored into a database of another kind, while it is stopped. It can be stopped and run again at
 * any time. 0 where both databases hold the same rows at the end, 1 where one is missing or another.
 *
 * @throws {UsageError} an address that is missing or none
 * @throws {Error} a server uses one of the two, or the new one holds other rows
 */
export async function copy({ options: { from, to } }: Call): Promise<number> {
  const addresses = { from: addressOf('--from', from), to: addressOf('--to', to) };
  if (from === to) throw new UsageError('copy needs two databases');
  endWhenTold();
  const isSame = await copyDatabase(readConfig(process.env), {
    ...addresses,
    onTable({ table, same, added, different, differences }) {
      print(`${table}: ${same} rows are the same, ${added} of them new; ${different} are not\n`);
      for (const difference of differences) note(difference);
      if (different > differences.length) note(`and ${different - differences.length} more of ${table}`);
    },
  });
  print(isSame ? 'all rows are the same\n' : '');
  return isSame ? 0 : 1;
}

function addressOf(option: string, given: string | undefined): string {
  if (given !== undefined && ADDRESS.test(given)) return given;
  throw new UsageError(`copy needs ${option} file:/path/name.db or postgresql://user@host/name`);
}
