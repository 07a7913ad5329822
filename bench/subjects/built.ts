import type * as Agent from '../../client/agent/index.js';
import type * as Client from '../../client/index.js';
import type * as Open from '../../server/adapters/prisma/open.js';
import type * as App from '../../server/app.js';
import type * as ServerClock from '../../server/clock.js';
import type * as ServerConfig from '../../server/config.js';
import type * as Ids from '../../server/id-source.js';
import type * as AgentSquadRoom from '../../stores/agent-squad/index.js';
import type * as BeeRoom from '../../stores/bee/index.js';
import type * as Pages from '../../stores/pages.js';

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

/** The rooms of two frameworks, and what reads a whole chat. */
export async function builtRooms() {
  const { createSquadStorage } = await load<typeof AgentSquadRoom>('stores/agent-squad/index.js');
  const { beeaiFramework, createBeeMemories } = await load<typeof BeeRoom>('stores/bee/index.js');
  const { allMessages } = await load<typeof Pages>('stores/pages.js');
  return { createSquadStorage, beeaiFramework, createBeeMemories, allMessages };
}

export const builtClient = (): Promise<typeof Client> => load<typeof Client>('client/index.js');
