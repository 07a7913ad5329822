/**
 * What is measured is what is served: the modules of dist/, not their sources through a loader that adds to every
 * function.
 */
const dist = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;

export async function built() {
  const { createTurnstream } = (await import(dist('server/app.js'))) as typeof import('../../server/app.js');
  const { readConfig } = (await import(dist('server/config.js'))) as typeof import('../../server/config.js');
  return { createTurnstream, readConfig };
}

export async function builtStore() {
  const { openPrismaStore } = (await import(
    dist('server/adapters/prisma/open.js')
  )) as typeof import('../../server/adapters/prisma/open.js');
  const { systemClock } = (await import(dist('server/clock.js'))) as typeof import('../../server/clock.js');
  const { systemIds } = (await import(dist('server/id-source.js'))) as typeof import('../../server/id-source.js');
  return { openPrismaStore, clock: systemClock, ids: systemIds };
}

export async function builtAgent() {
  return (await import(dist('client/agent/index.js'))) as typeof import('../../client/agent/index.js');
}
