import { migrate } from '../../server/adapters/prisma/migrate.js';
import { systemClock } from '../../server/clock.js';
import { systemIds } from '../../server/id-source.js';

/** A process to race or to kill: it migrates a database and says what it applied. */
const [url = '', directory] = process.argv.slice(2);
// The server's timers keep no process alive, and it may have to wait for the other one.
const alive = setInterval(() => undefined, 60_000);
const applied = await migrate({ url, clock: systemClock, ids: systemIds, ...(directory ? { directory } : {}) });
process.stdout.write(`applied [${applied.join(' ')}]\n`);
clearInterval(alive);
