import { existsSync } from 'node:fs';
import { readArguments } from './cli/arguments.js';
import { COMMANDS } from './cli/commands.js';
import { help, helpFor } from './cli/help.js';
import { UsageError } from './cli/usage-error.js';
import { SERVER_VERSION } from './version.js';

/** Picks the command and runs it. Exit codes: 0 all went well, 1 it failed, 2 a bad setting or argument. */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    return await run(args);
  } catch (error) {
    console.error(`turnstream: ${error instanceof Error ? error.message : String(error)}`);
    return isMisuse(error) ? 2 : 1;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const [first = ''] = args;
  if (first === '--help' || first === '-h') return say(help());
  if (first === '--version' || first === '-v') return say(`${SERVER_VERSION}\n`);
  const isNamed = first !== '' && !first.startsWith('-');
  const name = isNamed ? first : 'serve';
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`there is no command ${name}; turnstream --help lists them`);
  const call = readArguments(name, command, isNamed ? args.slice(1) : args);
  if (call.options.help) return say(helpFor(name, command));
  if (call.options.version) return say(`${SERVER_VERSION}\n`);
  const execute = await command.load();
  return execute(call);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** A setting is refused by a class that only the commands that read settings have loaded. */
const isMisuse = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof Error && error.name === 'ConfigError');
