import { openFileJournal } from '../../server/adapters/file-journal.js';
import { systemClock } from '../../server/clock.js';
import { createLog } from '../../server/log.js';

/** A process to kill: it commits entries to a journal and says the number of each once it is committed. */
const [directory = ''] = process.argv.slice(2);
const journal = openFileJournal({ directory, clock: systemClock, log: createLog('silent') });

function write(number: number): void {
  for (let n = number; n < number + 50; n += 1) {
    journal.add('request.1', JSON.stringify({ number: n }));
    journal.commit();
    process.stdout.write(`${n}\n`);
  }
  setImmediate(write, number + 50);
}
write(1);
