import { ChatStorage } from 'agent-squad';
import * as seedBase from 'bee-agent-framework/memory/base';
import * as base from 'beeai-framework/memory/base';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { blockOf, namesIn, OUTPUTS, outputOf, sectionOf, WITH_PACKAGES } from '../harness/frameworks-guide.js';
import { startServer } from '../harness/server.js';
import { GENERATIONS } from './bee-generations.js';

const INSTALLED = fileURLToPath(new URL('node_modules', import.meta.url));
const PACKAGES = {
  'agent-squad': join(INSTALLED, 'agent-squad'),
  'beeai-framework': join(INSTALLED, 'beeai-framework'),
};

/** What a class and those above it define, for instances and on themselves. */
function membersOf(Class: Function): string[] {
  const names: string[] = [];
  for (let one = Class; one !== Function.prototype; one = Object.getPrototypeOf(one) as Function)
    names.push(...Object.getOwnPropertyNames(one.prototype), ...Object.getOwnPropertyNames(one));
  return names.filter((name) => !['constructor', 'length', 'name', 'prototype'].includes(name));
}

/** The packages are large: loading one takes seconds on a machine that is busy with other tests. */
const LOADS_SLOWLY = { timeout: 60_000 };

describe('docs/frameworks.md, where it needs the frameworks’ packages', LOADS_SLOWLY, () => {
  test.each(WITH_PACKAGES)('%s prints what the page says', async (name) => {
    expect(await outputOf(name, PACKAGES)).toEqual({ code: 0, output: blockOf(OUTPUTS, name) });
  });

  test('agent-squad: the table names every method of the framework’s class', () => {
    const members = membersOf(ChatStorage);
    expect(members.length).toBeGreaterThan(0);
    expect(namesIn(sectionOf('## agent-squad'))).toEqual(expect.arrayContaining(members));
  });

  test.each([
    ['beeai-framework', base.BaseMemory],
    ['bee-agent-framework', seedBase.BaseMemory],
  ] as const)('Bee: the tables name every method of the BaseMemory of %s', (_, BaseMemory) => {
    const members = membersOf(BaseMemory);
    expect(members.length).toBeGreaterThan(5);
    expect(namesIn(sectionOf('## Bee'))).toEqual(expect.arrayContaining(members));
  });

  test.each(GENERATIONS)('Bee: what the tables name is there, in $generation', async ({ memoriesOf }) => {
    const memories = memoriesOf((await startServer()).as({ userId: 'ann' })) as Record<string, Function>;
    const members = Object.entries(memories).flatMap(([name, Class]) => [name, ...membersOf(Class)]);
    expect(namesIn(sectionOf('## Bee')).filter((name) => !members.includes(name))).toEqual([]);
  });
});
