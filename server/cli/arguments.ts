import { parseArgs } from 'node:util';
import type { Call, Command } from './command.js';
import { OPTIONS, type OptionName, type Options } from './options.js';
import { UsageError } from './usage-error.js';

/**
 * The words and options behind the name of a command.
 *
 * @throws {UsageError} an option that the command does not have, or a word too few or too many
 */
export function readArguments(name: string, command: Command, args: readonly string[]): Call {
  const names: readonly OptionName[] = [...command.options, 'help', 'version'];
  const { values, positionals } = understood(() =>
    parseArgs({
      args: [...args],
      options: Object.fromEntries(names.map((option) => [option, OPTIONS[option]])),
      allowPositionals: true,
    }),
  );
  const options = values as Options;
  if (options.help || options.version) return { words: [], options };
  return { words: wordsOf(name, command, positionals), options };
}

function wordsOf(name: string, { words }: Command, given: readonly string[]): string[] {
  const takesRest = words.at(-1)?.endsWith('...') ?? false;
  if (given.length < words.length) throw new UsageError(`${name} needs ${words.join(' and ').replace('...', '')}`);
  if (given.length === words.length) return [...given];
  if (!takesRest) throw new UsageError(`${name} does not know what to do with ${given[words.length] ?? ''}`);
  return [...given.slice(0, words.length - 1), given.slice(words.length - 1).join(' ')];
}

/** Node explains at length; one line is enough. */
function understood<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const option = /'(-[^' ]*)/.exec(message)?.[1] ?? '';
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
      throw new UsageError(`there is no option ${option} here`, { cause: error });
    if (code?.startsWith('ERR_PARSE_ARGS'))
      throw new UsageError((message.split('\n')[0] ?? '').replace(/\.$/, ''), { cause: error });
    throw error;
  }
}
