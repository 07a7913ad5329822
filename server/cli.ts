import { existsSync } from 'node:fs';
import { createTurnstream, type Turnstream } from './app.js';
import { ConfigError, readConfig } from './config.js';
import { createLog } from './log.js';

/** Exit codes: 0 all went well, 1 it failed, 2 a bad setting or argument. */
export async function runCli(args: readonly string[]): Promise<number> {
  const [command = 'serve'] = args;
  if (existsSync('.env')) process.loadEnvFile('.env');
  try {
    if (command === 'serve') return await serve();
    console.error(`turnstream: there is no command ${command}`);
    return 2;
  } catch (error) {
    console.error(`turnstream: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof ConfigError ? 2 : 1;
  }
}

/** Serves until it is told to stop. A first signal drains (LIF-1), a second one ends at once. */
async function serve(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection that nobody handled'));
  const turnstream = await createTurnstream({ config, log });
  console.log(`Turnstream listening on ${turnstream.url}`);
  await untilTold(turnstream);
  return 0;
}

/** npm passes a terminal's Ctrl-C on that the terminal has already delivered: the same signal again this soon is no second one. */
const ECHO_MS = 300;

async function untilTold(turnstream: Turnstream): Promise<void> {
  // Keeps the process alive until everything is stored and closed.
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((done, failed) => {
    let toldAt: number | null = null;
    const told = (): void => {
      const now = performance.now();
      if (toldAt === null) {
        toldAt = now;
        turnstream.drain().then(done, failed);
      } else if (now - toldAt > ECHO_MS) process.exit(1);
    };
    process.on('SIGTERM', told);
    process.on('SIGINT', told);
  });
  clearInterval(alive);
}
