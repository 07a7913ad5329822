import type { OptionName, Options } from './options.js';

/** A command line that was understood. */
export interface Call {
  /** One word per name in {@link Command.words}. */
  readonly words: readonly string[];
  readonly options: Options;
}

export interface Command {
  /** The names of what stands behind the command; the last one takes the rest of the line where it ends in `...`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly options: readonly OptionName[];
  /** Loads the command only when it is wanted: `say` needs no database. Its result is the exit code. */
  readonly load: () => Promise<(call: Call) => Promise<number>>;
}
