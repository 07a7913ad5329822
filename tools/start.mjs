// npm start: makes the clone ready, then serves. Arguments go to the server's command line: `npm start -- --help`.
import { fileURLToPath } from 'node:url';
import { prepareOrExit } from './prepare.mjs';

await prepareOrExit();

// The server takes over this process instead of running in a child: signals and the exit code are its own, and nobody
// between it and the terminal can lose or double one.
const main = new URL('../dist/server/main.js', import.meta.url);
process.argv = [process.argv[0], fileURLToPath(main), 'serve', ...process.argv.slice(2)];
await import(main.href);
