import { createTurnstream, type Turnstream } from '../app.js';
import { readConfig } from '../config.js';
import { createLog } from '../log.js';
import { onTold } from './told.js';

/** Serves until it is told to stop. A first signal drains (LIF-1), a second one ends at once. */
export async function serve(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection that nobody handled'));
  const turnstream = await createTurnstream({ config, log });
  // Before the line is said: whoever reads it may stop the server in the same moment.
  const told = untilTold(turnstream);
  console.log(`Turnstream listening on ${turnstream.url}`);
  await told;
  return 0;
}

async function untilTold(turnstream: Turnstream): Promise<void> {
  await new Promise<void>((done, failed) => {
    const drain = (): void => {
      // Running turns may take DRAIN_MS: whoever pressed Ctrl-C sees that it was heard.
      console.error('turnstream: stopping once running turns have ended; a second signal ends at once');
      turnstream.drain().then(done, failed);
    };
    onTold(['SIGTERM', 'SIGINT'], drain, () => process.exit(1));
  });
}
