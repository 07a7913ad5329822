import type * as Agent from '../../client/agent/index.js';
import type * as Open from '../../server/adapters/prisma/open.js';
import type * as App from '../../server/app.js';
import type * as ServerClock from '../../server/clock.js';
import type * as ServerConfig from '../../server/config.js';
import type * as Ids from '../../server/id-source.js';

/**
 * What is measured is what is served: the modules of dist/, not their sources through a loader that adds to every
 * function.
 */
const load = async <M>(path: string): Promise<M> =>
  (await import(new URL(`../../dist/${path}`, import.meta.url).href)) as M;

export async function built() {
  const { createTurnstream } = await load<typeof App>('server/app.js');
  const { readConfig } = await load<typeof ServerConfig>('server/config.js');
  return { createTurnstream, readConfig };
}

export async function builtStore() {
  const { openPrismaStore } = await load<typeof Open>('server/adapters/prisma/open.js');
  const { systemClock } = await load<typeof ServerClock>('server/clock.js');
  const { systemIds } = await load<typeof Ids>('server/id-source.js');
  return { openPrismaStore, clock: systemClock, ids: systemIds };
}

export const builtAgent = (): Promise<typeof Agent> => load<typeof Agent>('client/agent/index.js');
