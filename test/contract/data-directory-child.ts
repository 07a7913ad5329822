import { claimDataDirectory } from '../../server/adapters/data-directory.js';

/** A process to kill: it claims a directory, says so and stays. */
claimDataDirectory(process.argv[2] ?? '');
process.stdout.write('claimed\n');
setInterval(() => undefined, 60_000);
