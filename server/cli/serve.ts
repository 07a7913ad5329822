import { createTurnstream, failRunning } from '../app.js';
import { readConfig } from '../config.js';
import { createLog } from '../log.js';
import { onTold } from './told.js';

/** Serves until it is told to stop, also while it starts. A first signal drains (LIF-1), a second one ends at once. */
export async function serve(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection that nobody handled'));
  process.on('uncaughtException', (error) => {
    if (failRunning(error)) return log.error({ err: error }, 'an assistant threw where nobody could catch it');
    // The state may be half of something: the journal has what is needed to go on (LIF-2).
    log.fatal({ err: error }, 'an error that nobody caught');
    process.exit(1);
  });
  const told = untilTold();
  let { port } = config;
  for (;;) {
    let onLost = (): void => undefined;
    const lost = new Promise<'lost'>((resolve) => (onLost = () => resolve('lost')));
    const turnstream = await createTurnstream({ config: { ...config, port }, log, onLost: () => onLost() });
    ({ port } = turnstream);
    console.log(`Turnstream listening on ${turnstream.url}`);
    // One that others have given up (LIF-4) joins them again, as another node.
    if ((await Promise.race([told, lost])) === 'lost') continue;
    await turnstream.drain();
    return 0;
  }
}

function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    const first = (): void => {
      // Running turns may take DRAIN_MS: whoever pressed Ctrl-C sees that it was heard.
      console.error('turnstream: stopping once running turns have ended; a second signal ends at once');
      resolve();
    };
    onTold(['SIGTERM', 'SIGINT'], first, () => process.exit(1));
  });
}
