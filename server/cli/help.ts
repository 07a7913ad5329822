import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { describeOptions } from './options.js';

const lineOf = (name: string, { words }: Command): string => [name, ...words].join(' ');

/** What `turnstream --help` says. */
export function help(): string {
  const lines = Object.entries(COMMANDS).map(([name, command]) => [lineOf(name, command), command.summary] as const);
  const width = Math.max(...lines.map(([left]) => left.length));
  return `Turnstream, a realtime chat session server for AI assistants.

Usage: turnstream COMMAND [OPTIONS]

${lines.map(([left, summary]) => `  ${left.padEnd(width)}  ${summary}`).join('\n')}

${describeOptions(['help', 'version'])}

Without a command it serves. turnstream COMMAND --help tells more.
`;
}

/** What `turnstream COMMAND --help` says. */
export function helpFor(name: string, command: Command): string {
  return `turnstream ${lineOf(name, command)}: ${command.summary}

${describeOptions([...command.options, 'help', 'version'])}
`;
}
