import { expect, test } from 'vitest';
import * as z from 'zod';
import { agentCommand, command } from '../../../protocol/command.js';
import { agentCommands, commands } from '../../../protocol/index.js';

const bare = { summary: 'Does something.', args: z.object({}), result: z.object({}) };

test('ACC-2: a command of people cannot be written down without its right', () => {
  // @ts-expect-error a command needs its right
  const without = command(bare);
  // @ts-expect-error `serve` is a right of agents
  const other = command({ ...bare, right: 'serve' });
  expect([without, other]).toMatchObject([{ audited: false }, { right: 'serve' }]);
  expect(command({ ...bare, right: 'read' })).toMatchObject({ ...bare, right: 'read', audited: false, socket: true });
});

test('ACC-3: a command of agents cannot be written down without its right', () => {
  // @ts-expect-error a command needs its right
  const without = agentCommand(bare);
  // @ts-expect-error `admin` is a right of people
  const other = agentCommand({ ...bare, right: 'admin' });
  expect([without, other]).toMatchObject([{ audited: false }, { right: 'admin' }]);
  expect(agentCommand({ ...bare, right: 'hold' })).toMatchObject({ ...bare, right: 'hold', audited: false });
});

test('ACC-2, ACC-3: every command of both tables has one', () => {
  for (const [name, { right }] of [...Object.entries(commands), ...Object.entries(agentCommands)])
    expect(right, name).toMatch(/^[a-z]+$/);
});
