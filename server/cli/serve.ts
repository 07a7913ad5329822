import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTurnstream, type Assistant, type Turnstream } from '../app.js';
import { ConfigError, readConfig, type Config } from '../config.js';
import { createLog } from '../log.js';
import { onTold } from './told.js';

/** Serves until it is told to stop. A first signal drains (LIF-1), a second one ends at once. */
export async function serve(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection that nobody handled'));
  const turnstream = await createTurnstream({ config, log, assistants: await loadAssistants(config) });
  console.log(`Turnstream listening on ${turnstream.url}`);
  await untilTold(turnstream);
  return 0;
}

async function untilTold(turnstream: Turnstream): Promise<void> {
  // Keeps the process alive until everything is stored and closed.
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((done, failed) => {
    const drain = (): void => void turnstream.drain().then(done, failed);
    onTold(['SIGTERM', 'SIGINT'], drain, () => process.exit(1));
  });
  clearInterval(alive);
}

/** Modules named by ASSISTANTS: each exports an assistant, or a list of them, as `default`. */
async function loadAssistants({ assistants }: Config): Promise<Assistant[]> {
  return (await Promise.all(assistants.map(loadModule))).flat();
}

/** @throws {ConfigError} a module that cannot be loaded, or is none of assistants */
async function loadModule(path: string): Promise<readonly Assistant[]> {
  const { default: exported } = await importModule(path);
  const list: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  if (list.length > 0 && list.every(isAssistant)) return list;
  throw new ConfigError('ASSISTANTS', `${path} exports no assistant as its default`);
}

async function importModule(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  } catch (error) {
    throw new ConfigError('ASSISTANTS', `${path} cannot be loaded: ${firstLine(error instanceof Error ? error.message : String(error))}`);
  }
}

function isAssistant(candidate: unknown): candidate is Assistant {
  return candidate !== null && typeof candidate === 'object' && 'assistantId' in candidate && 'run' in candidate;
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
